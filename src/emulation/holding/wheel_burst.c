/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/wheel_burst.h"

#include <rte_prefetch.h>

/* After a run shorter than this, the other packets are pushed one by one: they are not likely to
 * form longer runs. */
#define RUN_SHORT 4

/* Returns how many packets, from the first on, form a run: their frames can be copied, and their
 * mbufs become spare. `alike`: all frames have one length. */
static uint16_t run_length(const struct holder *holder, struct rte_mbuf *const *mbufs, uint16_t n,
                           bool *alike)
{
	const struct rte_mbuf *first = mbufs[0];
	uint32_t bytes_max, others = 0;
	uint64_t shape;
	uint16_t i;

	if (unlikely(!hold_copies(holder, first) || !hold_owns_alone(holder, first)))
		return 0;
	shape = hold_shape(first);
	bytes_max = RTE_MIN(holder->copy_bytes_max,
	                    (uint32_t)first->buf_len - first->data_off - COPY_BLOCK_BYTES);
	for (i = 1; i < n; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];

		if (unlikely(hold_shape(mbuf) != shape || !hold_owns(holder, mbuf) ||
		             mbuf->data_len > bytes_max))
			break;
		others |= (uint32_t)(mbuf->data_len ^ first->data_len);
	}
	*alike = others == 0;
	return i;
}

/* Returns true if the stays of all packets are in one class of the store, and sets *class to it. */
static bool stays_alike(const struct wheel *wheel, const simtime *due_ns, uint16_t n,
                        uint32_t *class)
{
	simtime least = SIMTIME_NEVER, most = 0;

	for (uint16_t i = 0; i < n; i++) {
		least = simtime_min(least, due_ns[i]);
		most = simtime_max(most, due_ns[i]);
	}
	if (unlikely(least <= wheel->cursor))
		return false;
	*class = store_class_of(least - wheel->cursor);
	return *class == store_class_of(most - wheel->cursor);
}

/* Makes room for a record for each packet, in the class of its own stay, as long as there is
 * memory; returns how many. */
static uint16_t rooms_make(struct wheel *wheel, struct rte_mbuf *const *mbufs, uint16_t n,
                           const simtime *due_ns, struct held **held)
{
	simtime cursor = wheel->cursor;
	uint16_t i;

	for (i = 0; i < n; i++) {
		held[i] = store_append(&wheel->store, due_ns[i] > cursor ? due_ns[i] - cursor : 0,
		                       mbufs[i]->data_len);
		if (unlikely(!held[i]))
			break;
	}
	return i;
}

/* Makes a cell for each packet of a run, all of one length, if they can have one; returns how many.
 * The burst is whole. */
static uint16_t cells_make(struct wheel *wheel, uint32_t class, uint32_t cloud,
                           const struct burst *burst, uint32_t from, uint16_t n,
                           struct held **cells)
{
	const uint32_t bytes = burst->mbuf[from]->data_len;
	uint32_t numbers[BURST_ROOM];

	if (!store_takes_cells(&wheel->store, class, bytes))
		return 0;
	wheel->has_cells = true;
	burst_numbers(burst, from, n, numbers);
	return store_append_cells(&wheel->store, class, cloud, bytes, numbers, n, cells);
}

/* Adds the keys of the records, as long as there is memory; returns how many. */
static uint16_t keys_add(struct wheel *wheel, struct held *const *held, uint16_t n,
                         const simtime *due_ns)
{
	const struct arena *arena = wheel->store.arena;
	struct key_list *key_lists = wheel->level[0].key_lists;
	simtime cursor = wheel->cursor, quiet = SIMTIME_NEVER;
	uint8_t *base = arena->base;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (unlikely(!wheel_key_add(wheel, base, key_lists, cursor, due_ns[i],
		                            (wheel_link)((size_t)((uint8_t *)held[i] - base) / 8),
		                            &quiet)))
			break;
	}
	wheel->quiet = simtime_min(wheel->quiet, quiet);
	wheel->records += i;
	return i;
}

/* Moves packets of the burst, from `from` on, into their records. The mbufs become spare; the
 * holder has room for them. */
static void records_fill(struct holder *holder, struct held *const *room, uint32_t cloud,
                         const struct burst *burst, uint32_t from, uint16_t n, uint64_t number)
{
	struct rte_mbuf **spare = &holder->spare[holder->n_spare];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = burst->mbuf[from + i];
		struct held *held = room[i];

		held->t_ns = number + i;
		held->wire_bytes = burst_wire_bytes(burst, from + i);
		held->stored_bytes = mbuf->data_len;
		held->flags = burst_flags(burst, from + i);
		held->cloud = cloud;
		held->number = (uint32_t)burst_number(burst, from + i);
		hold_copy(held->data, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
		spare[i] = mbuf;
	}
	holder->n_spare += n;
}

/* The same for packets in cells. */
static void cells_fill(struct holder *holder, struct held *const *cells,
                       struct rte_mbuf *const *mbufs, uint16_t n)
{
	memcpy(&holder->spare[holder->n_spare], mbufs, n * sizeof(*mbufs));
	for (uint16_t i = 0; i < n; i++)
		memcpy(cells[i], rte_pktmbuf_mtod(mbufs[i], const uint8_t *), CELL_BYTES);
	holder->n_spare += n;
}

/* Pushes a run of n <= BURST_ROOM packets; returns how many found memory. `cells`: all have one
 * length, and may take cells. */
static uint16_t push_run(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                         const struct burst *burst, uint32_t from, uint16_t n,
                         const simtime *due_ns, bool cells)
{
	struct rte_mbuf *const *mbufs = &burst->mbuf[from];
	struct held *held[BURST_ROOM];
	uint16_t rooms = 0, done;
	uint32_t class;

	if (unlikely(holder->n_spare > HOLD_SPARE_MAX - BURST_ROOM))
		hold_give_back(holder, HOLD_SPARE_MAX / 2);
	if (unlikely(!stays_alike(wheel, due_ns, n, &class))) {
		cells = false;
		rooms = rooms_make(wheel, mbufs, n, due_ns, held);
	} else {
		if (cells)
			rooms = cells_make(wheel, class, cloud, burst, from, n, held);
		cells = rooms > 0;
		if (!cells)
			rooms = store_append_run(&wheel->store, class, mbufs, n, held);
	}
	done = keys_add(wheel, held, rooms, due_ns);
	if (cells)
		cells_fill(holder, held, mbufs, done);
	else
		records_fill(holder, held, cloud, burst, from, done, wheel->inserted);
	wheel->inserted += done;
	for (uint16_t i = done; unlikely(i < rooms); i++)
		store_leave(&wheel->store, held[i]);
	return done;
}

/* Pushes one packet of any kind. */
static bool push_alone(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                       const struct burst *burst, uint32_t i, simtime due)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	const bool copied = hold_copies(holder, mbuf);
	struct held *held = NULL;

	if (likely(copied || hold_may_keep(holder, mbuf)))
		held = wheel_append(wheel, due, cloud, hold_stored_bytes(mbuf, copied));
	if (unlikely(!held))
		return false;
	hold_fill(holder, held, copied, burst, i);
	return true;
}

uint16_t wheel_burst_push(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                          const struct burst *burst, uint16_t from, uint16_t n,
                          const simtime *due_ns, bool cells)
{
	bool runs = true, alike;
	uint16_t done = 0;

	cells &= burst->whole;
	wheel_expect(wheel, due_ns, n);
	while (done < n) {
		const uint16_t at = from + done;
		uint16_t run = runs ? run_length(holder, &burst->mbuf[at], n - done, &alike) : 0,
		         pushed;

		runs = run >= RUN_SHORT;
		if (likely(runs)) {
			pushed = push_run(wheel, holder, cloud, burst, at, run, &due_ns[done],
			                  cells && alike);
			done += pushed;
			if (likely(pushed == run))
				continue;
			break;
		}
		if (!push_alone(wheel, holder, cloud, burst, at, due_ns[done]))
			break;
		done++;
	}
	return done;
}

/* Moves the packet in a cell into the outlet; there is a spare mbuf. */
static __rte_always_inline void cell_leave(struct holder *holder, const void *cell, uint32_t bytes,
                                           simtime due, struct outlet *outlet)
{
	struct rte_mbuf *mbuf = holder->spare[--holder->n_spare];

	hold_into(mbuf, cell, (uint16_t)bytes);
	outlet_put(outlet, mbuf, due, bytes);
}

uint64_t wheel_burst_pop(struct wheel *wheel, struct holder *holder, simtime now,
                         struct outlet *outlet, uint32_t most)
{
	const uint32_t end = RTE_MIN(outlet->n + most, OUTLET_ROOM);
	uint64_t bytes = 0;
	const struct wheel_entry *leaves;
	uint32_t n, i;

	while (outlet->n < end) {
		leaves = wheel_look(wheel, now, end - outlet->n, &n);
		for (i = 0; i < n; i++) {
			const struct held *held = leaves[i].held;
			uint32_t cell = wheel->has_cells ? store_cell(&wheel->store, held) : 0;

			wheel_stream(wheel);
			if (cell == 0 && hold_may_leave(holder, held, 1))
				hold_leave(holder, held, 0, 1, leaves[i].t_ns, 0, outlet);
			else if (cell > 0 && hold_provide(holder) > 0)
				cell_leave(holder, held, cell, leaves[i].t_ns, outlet);
			else
				break;
			bytes += outlet->wire_bytes[outlet->n - 1];
		}
		wheel_pass(wheel, i);
		if (n == 0 || i < n)
			break;
	}
	return bytes;
}

uint64_t wheel_burst_drop(struct wheel *wheel, struct holder *holder)
{
	uint64_t n = 0;
	simtime due;

	for (; wheel && wheel->records; n++) {
		hold_drop(holder, wheel_front(wheel, SIMTIME_NEVER - 1, &due));
		wheel_pass(wheel, 1);
	}
	return n;
}
