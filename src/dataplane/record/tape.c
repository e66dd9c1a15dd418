/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/tape.h"

#include <errno.h>

#include "capture/frame_copy.h"
#include "engine/engine.h"
#include "engine/engine_digest.h"
#include "engine/engine_snapshot.h"
#include "machine/pool.h"
#include "packet/digest.h"

/* Room for entries that are no packets: without them, the later entries are useless. */
#define RESERVE 65536u

/* ---- room ---- */

static struct tape_entry *entry_at(const struct tape *tape, uint64_t at)
{
	return (struct tape_entry *)(void *)(tape->data + (at & (tape->size - 1)));
}

/* Returns the number of free bytes. */
static uint64_t tape_room(struct tape *tape)
{
	tape->taken = __atomic_load_n(&tape->passed, __ATOMIC_ACQUIRE);
	return tape->size - (tape->written - tape->taken);
}

/* Returns the place for an entry of `bytes`, so that `spare` bytes are left behind it, or NULL if
 * there is no room. */
static struct tape_entry *reserve(struct tape *tape, uint32_t bytes, uint32_t spare)
{
	uint64_t at = tape->written & (tape->size - 1), padding = 0;
	uint64_t free = tape->size - (tape->written - tape->taken);

	if (unlikely(at + bytes > tape->size))
		padding = tape->size - at;
	if (unlikely(free < padding + bytes + spare) && tape_room(tape) < padding + bytes + spare)
		return NULL;
	if (unlikely(padding > 0)) {
		/* All entries are multiples of 8, so the first two words fit. */
		struct tape_entry *entry = entry_at(tape, at);

		entry->bytes = (uint32_t)padding;
		entry->kind = TAPE_PADDING;
		tape->written += padding;
	}
	return entry_at(tape, tape->written);
}

static void tape_publish(struct tape *tape, const struct tape_entry *entry)
{
	tape->written += entry->bytes;
	__atomic_store_n(&tape->published, tape->written, __ATOMIC_RELEASE);
}

/* Puts an entry that has nothing behind it. Returns false if there is no room. */
static bool put_alone(struct tape *tape, const struct tape_entry *what, uint32_t spare)
{
	struct tape_entry *entry = reserve(tape, sizeof(*entry), spare);

	if (!entry)
		return false;
	*entry = *what;
	entry->bytes = sizeof(*entry);
	tape_publish(tape, entry);
	return true;
}

/* Puts a GAP on the tape, now that there is room again. Returns false if there is none. */
static bool tell_gap(struct tape *tape, uint32_t spare)
{
	const struct tape_entry gap = {
	        .kind = TAPE_GAP,
	        .flags = tape->gap_blind ? TAPE_BLIND : 0,
	        .n = (uint32_t)RTE_MIN(tape->gap_packets, (uint64_t)UINT32_MAX),
	        .t_ns = tape->now,
	        .number = tape->gap_from,
	};

	if (!put_alone(tape, &gap, spare))
		return false;
	tape->gap = tape->gap_blind = false;
	tape->gap_packets = 0;
	return true;
}

/* Puts an UNHELD. Returns false if there is no room. */
static bool tell_unheld(struct tape *tape, uint32_t spare)
{
	const struct tape_entry unheld = {
	        .kind = TAPE_UNHELD, .t_ns = tape->now, .number = tape->lacked_ns};

	if (!put_alone(tape, &unheld, spare))
		return false;
	tape->unheld_ns = tape->lacked_ns;
	return true;
}

/* A flight begins anew this long after a gap. Sooner, the writer would only fall behind again. */
#define ANEW_NS (100 * SIMTIME_MS)

static void leave_out(struct tape *tape, uint64_t packets, bool blind, simtime now)
{
	if (!tape->gap)
		tape->gap_from = now;
	if (tape->snapshots.begun)
		tape->snapshots.next = now + ANEW_NS;
	tape->snapshots.begun = false;
	tape->gap = true;
	tape->gap_blind |= blind;
	tape->gap_packets += packets;
	tape->missed += packets;
}

/* Returns the place for an entry of `bytes`, so that `spare` bytes are left behind it; puts a
 * pending GAP first. Returns NULL if there is no room. */
static struct tape_entry *tape_entry_begin(struct tape *tape, uint32_t bytes, uint32_t spare)
{
	if (unlikely(tape->gap) && !tell_gap(tape, spare + bytes))
		return NULL;
	/* Nothing may be read before it is known that it cannot be repeated. */
	if (unlikely(tape->lacked_ns < tape->unheld_ns) && !tell_unheld(tape, spare + bytes))
		return NULL;
	return reserve(tape, bytes, spare);
}

void tape_free(struct tape *tape)
{
	memory_free(tape->data, tape->size);
	memory_free(tape->snapshots.room, tape->snapshots.room_bytes);
	tape->data = NULL;
	tape->snapshots.room = NULL;
}

uint32_t tape_digested(uint32_t snap)
{
	if (snap == 0)
		return UINT32_MAX;
	return snap > TAPE_MOVES ? snap - TAPE_MOVES : 0;
}

/* ---- packets ---- */

static void copy_chain(uint8_t *to, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	for (uint32_t done = 0, part; done < bytes; done += part, mbuf = mbuf->next) {
		part = RTE_MIN((uint32_t)mbuf->data_len, bytes - done);
		memcpy(to + done, rte_pktmbuf_mtod(mbuf, const uint8_t *), part);
	}
}

/* Fills in what is kept of n packets, from `from` on. Returns the bytes that their frames take. */
static uint32_t put_heads(const struct tape *tape, const struct burst *burst, uint32_t from,
                          uint32_t n, struct tape_frame *heads)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		heads[i].bytes = RTE_MIN(burst->mbuf[from + i]->pkt_len, tape->snap);
		heads[i].wire_bytes = burst_wire_bytes(burst, from + i);
		bytes += tape_padded(heads[i].bytes);
	}
	return bytes;
}

static inline void put_frame(uint8_t *to, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	if (likely(mbuf->data_len >= bytes))
		frame_copy(to, rte_pktmbuf_mtod(mbuf, const uint8_t *), bytes);
	else
		copy_chain(to, mbuf, bytes);
}

/* The ring is larger than the caches, so cache lines are fetched this far ahead of writing.
 * Without, a packet of 64 bytes took 6 ns more (delay-10ms, in the commit that made this). */
#define FETCH_AHEAD 4096u

static inline void fetch_ahead(const struct tape *tape, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
		__builtin_prefetch(
		        tape->data + ((tape->written + FETCH_AHEAD + at) & (tape->size - 1)), 1);
}

/* Puts packets of one instant that are numbered in sequence. */
static void put_run(struct tape *tape, const struct burst *burst, uint32_t from, uint32_t n)
{
	const uint32_t ages = burst->whole ? 0 : tape_padded(n * (uint32_t)sizeof(uint32_t));
	const uint32_t head_bytes = n * (uint32_t)sizeof(struct tape_frame);
	struct tape_frame heads[BURST_ROOM];
	const uint32_t bytes = (uint32_t)sizeof(struct tape_entry) + ages + head_bytes +
	                       put_heads(tape, burst, from, n, heads);
	struct tape_entry *entry;
	uint8_t *to;

	tape->now = burst_t(burst, from);
	entry = tape_entry_begin(tape, bytes, RESERVE);
	if (unlikely(!entry)) {
		leave_out(tape, n, false, tape->now);
		return;
	}
	*entry = (struct tape_entry){
	        .bytes = bytes,
	        .kind = TAPE_PACKETS,
	        .flags = ages ? TAPE_AGES : 0,
	        .port = burst->port,
	        .n = n,
	        .t_ns = tape->now,
	        .number = burst_number(burst, from),
	};
	fetch_ahead(tape, bytes);
	to = (uint8_t *)(entry + 1);
	if (unlikely(ages)) {
		memcpy(to, &burst->age_ns[from], n * sizeof(uint32_t));
		to += ages;
	}
	memcpy(to, heads, head_bytes);
	to += head_bytes;
	for (uint32_t i = 0; i < n; i++) {
		put_frame(to, burst->mbuf[from + i], heads[i].bytes);
		to += tape_padded(heads[i].bytes);
	}
	tape->packets += n;
	tape_publish(tape, entry);
}

/* Returns true if a flight has no use for packets: before its first snapshot, and after a gap. */
static inline bool waits_for_snapshot(const struct tape *tape)
{
	return tape->snapshots.every_ns > 0 && !tape->snapshots.begun;
}

void tape_burst(struct tape *tape, const struct burst *burst)
{
	if (waits_for_snapshot(tape)) {
		tape->missed += burst->n;
		return;
	}
	if (likely(burst->at_once && burst->in_sequence)) {
		put_run(tape, burst, 0, burst->n);
		return;
	}
	for (uint32_t i = 0, n; i < burst->n; i += n) {
		for (n = 1; i + n < burst->n && burst_t(burst, i + n) == burst_t(burst, i) &&
		            burst_number(burst, i + n) == burst_number(burst, i) + n;
		     n++)
			;
		put_run(tape, burst, i, n);
	}
}

/* ---- entries between packets ---- */

/* What a tape lacks without an entry: a value to compare with; all entries behind it; or a change,
 * without which not even a later snapshot helps. The more is lost, the less room is kept spare. */
enum worth { WORTH_A_COMPARISON, WORTH_A_GAP, WORTH_A_BLIND_GAP };

static void put_entry(struct tape *tape, const struct tape_entry *what, enum worth worth)
{
	static const uint32_t spare[] = {[WORTH_A_COMPARISON] = RESERVE,
	                                 [WORTH_A_GAP] = RESERVE / 2,
	                                 [WORTH_A_BLIND_GAP] = 0};
	struct tape_entry *entry;

	/* The gap already makes the following entries unknown. */
	if (unlikely(tape->gap) && worth == WORTH_A_GAP)
		return;
	entry = tape_entry_begin(tape, sizeof(*entry), spare[worth]);
	tape->now = what->t_ns;
	if (unlikely(!entry)) {
		if (worth != WORTH_A_COMPARISON)
			leave_out(tape, 0, worth == WORTH_A_BLIND_GAP, what->t_ns);
		return;
	}
	*entry = *what;
	entry->bytes = sizeof(*entry);
	tape_publish(tape, entry);
}

void tape_change(struct tape *tape, uint64_t number, simtime now)
{
	put_entry(tape, &(struct tape_entry){.kind = TAPE_CHANGE, .t_ns = now, .number = number},
	          WORTH_A_BLIND_GAP);
}

void tape_clear(struct tape *tape, simtime now)
{
	put_entry(tape, &(struct tape_entry){.kind = TAPE_CLEAR, .t_ns = now}, WORTH_A_BLIND_GAP);
}

void tape_insertion(struct tape *tape, const struct insertion *insertion, simtime now)
{
	const uint32_t frames = insertion->n * insertion->frame_bytes;
	const uint32_t bytes =
	        (uint32_t)sizeof(struct tape_entry) + TAPE_CLOUD_BYTES + tape_padded(frames);
	struct tape_entry *entry = tape_entry_begin(tape, bytes, 0);
	uint8_t *to;

	tape->now = now;
	if (unlikely(!entry)) {
		leave_out(tape, insertion->n, true, now);
		return;
	}
	*entry = (struct tape_entry){.bytes = bytes,
	                             .kind = TAPE_INSERTION,
	                             .n = insertion->n,
	                             .t_ns = now,
	                             .number = insertion->frame_bytes};
	to = (uint8_t *)(entry + 1);
	memset(to, 0, TAPE_CLOUD_BYTES);
	memcpy(to, insertion->cloud, strnlen(insertion->cloud, TAPE_CLOUD_BYTES - 1));
	memcpy(to + TAPE_CLOUD_BYTES, insertion->frames, frames);
	tape_publish(tape, entry);
}

void tape_end(struct tape *tape, simtime now, bool settled)
{
	put_entry(tape,
	          &(struct tape_entry){
	                  .kind = TAPE_END, .flags = settled ? 0 : TAPE_UNSETTLED, .t_ns = now},
	          WORTH_A_BLIND_GAP);
}

/* ---- what became of the packets ---- */

void tape_departures(struct tape *tape, uint32_t port, const struct outlet *outlet, simtime now)
{
	const uint32_t n = outlet->n;
	const uint32_t bytes =
	        (uint32_t)sizeof(struct tape_entry) + tape_padded(n * (uint32_t)sizeof(uint32_t));
	struct tape_entry *entry;
	uint32_t *digests;

	if (n == 0 || waits_for_snapshot(tape))
		return;
	tape->now = now;
	tape->account.departed[port] += n;
	tape->until_check -= RTE_MIN(n, tape->until_check);
	if (tape->snapshots.every_ns > 0) {
		for (uint32_t i = 0; i < n; i++)
			tape->account.sums[port] += outlet->due_ns[i];
		return;
	}
	/* Without this entry only a comparison is missing. */
	entry = tape_entry_begin(tape, bytes, RESERVE);
	if (unlikely(!entry))
		return;
	*entry = (struct tape_entry){.bytes = bytes,
	                             .kind = TAPE_DEPARTURES,
	                             .port = (uint16_t)port,
	                             .n = n,
	                             .t_ns = now,
	                             .number = tape->account.departed[port] - n + 1};
	digests = (uint32_t *)(void *)(entry + 1);
	for (uint32_t i = 0; i < n; i++)
		digests[i] = digest_departure(outlet->mbufs[i], outlet->due_ns[i],
		                              outlet->wire_bytes[i], tape->digested);
	tape_publish(tape, entry);
}

static void put_sums(struct tape *tape, simtime now)
{
	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX; port++) {
		if (tape->account.departed[port] > 0)
			put_entry(tape,
			          &(struct tape_entry){.kind = TAPE_SUM,
			                               .port = (uint16_t)port,
			                               .n = (uint32_t)tape->account.departed[port],
			                               .t_ns = now,
			                               .number = tape->account.sums[port]},
			          WORTH_A_COMPARISON);
	}
}

void tape_check(struct tape *tape, struct engine *engine, simtime now)
{
	if (likely(tape->until_check > 0))
		return;
	tape->until_check = TAPE_CHECK_EVERY;
	/* If something due has not left yet, the counters are compared later. */
	if (engine_next(engine) <= now)
		return;
	if (tape->snapshots.every_ns > 0)
		put_sums(tape, now);
	for (uint32_t i = 0; i < TAPE_CHECK_CLOUDS; i++) {
		struct engine_digest digest;

		if (!engine_digest_next(engine, &tape->next_check, &digest))
			return;
		/* A flight that begins behind the removal does not know what it has counted. */
		if (digest.over && tape->snapshots.every_ns > 0)
			continue;
		put_entry(tape,
		          &(struct tape_entry){.kind = TAPE_CHECK,
		                               .n = digest.slot,
		                               .word = digest_name(digest.cloud),
		                               .t_ns = now,
		                               .number = digest.counters},
		          WORTH_A_COMPARISON);
	}
}

void tape_unsent(struct tape *tape, uint32_t port, const struct rte_mbuf *mbuf, simtime due_ns)
{
	put_entry(tape,
	          &(struct tape_entry){
	                  .kind = TAPE_UNSENT,
	                  .port = (uint16_t)port,
	                  .n = mbuf->pkt_len,
	                  .word = digest_departure(mbuf, due_ns, mbuf->pkt_len, tape->digested),
	                  .t_ns = tape->now,
	                  .number = due_ns,
	          },
	          WORTH_A_GAP);
}

int tape_make(struct tape *tape, uint64_t bytes, uint32_t snap)
{
	memset(tape, 0, sizeof(*tape));
	tape->lacked_ns = tape->unheld_ns = SIMTIME_NEVER;
	tape->size = bytes;
	tape->snap = snap ? snap : UINT32_MAX;
	tape->digested = tape_digested(snap);
	tape->until_check = TAPE_CHECK_EVERY;
	tape->data = memory_make(bytes);
	return tape->data ? 0 : -ENOMEM;
}

/* ---- the reader's side ---- */

const struct tape_entry *tape_look(struct tape *tape)
{
	uint64_t at = tape->passed;

	/* Reads `published` only when all that it covered has been taken: each read takes the cache
	 * line from the worker. */
	if (at == tape->seen)
		tape->seen = __atomic_load_n(&tape->published, __ATOMIC_ACQUIRE);
	while (at != tape->seen) {
		const struct tape_entry *entry = entry_at(tape, at);

		if (entry->kind != TAPE_PADDING)
			return entry;
		at += entry->bytes;
		__atomic_store_n(&tape->passed, at, __ATOMIC_RELEASE);
	}
	return NULL;
}

void tape_pass(struct tape *tape, const struct tape_entry *entry)
{
	__atomic_store_n(&tape->passed, tape->passed + entry->bytes, __ATOMIC_RELEASE);
}

/* Puts snapshots of an engine on a tape. */

/* A snapshot that was put off is tried again after this time; after ten times this if the reason
 * may last. */
#define AGAIN_NS SIMTIME_MS

int tape_take_snapshots(struct tape *tape, const struct tape_snapshots *snapshots)
{
	tape->snapshots = *snapshots;
	tape->snapshots.room = memory_make(snapshots->room_bytes);
	return tape->snapshots.room ? 0 : -ENOMEM;
}

void tape_account_snapshot(struct tape_account *account, struct snapshot *snapshot)
{
	snapshot_value(snapshot, account->departed);
	snapshot_value(snapshot, account->sums);
}

/* ---- the worker's side ---- */

static void take(struct tape *tape, struct engine *engine, simtime now, struct snapshot *snapshot)
{
	snapshot->snap = tape->snap == UINT32_MAX ? 0 : tape->snap;
	tape_account_snapshot(&tape->account, snapshot);
	engine_snapshot(engine, now, snapshot);
}

/* Lets the reader enlarge the room. If that was refused before, waits until the next snapshot is
 * due. */
static void want_room(struct tape *tape, struct engine *engine, simtime now)
{
	struct tape_snapshots *snapshots = &tape->snapshots;
	struct snapshot measure = {.measures = true};
	const bool refused = snapshots->refused;

	take(tape, engine, now, &measure);
	__atomic_store_n(&snapshots->needed, measure.measured, __ATOMIC_RELAXED);
	__atomic_store_n(&snapshots->is, TAPE_ROOM_SMALL, __ATOMIC_RELEASE);
	if (refused)
		snapshots->next = now + snapshots->every_ns;
}

void tape_snapshot(struct tape *tape, struct engine *engine, simtime now)
{
	struct tape_snapshots *snapshots = &tape->snapshots;
	struct snapshot snapshot = {0};
	struct tape_entry *entry;

	/* Holds until a snapshot is taken. */
	snapshots->next = now + AGAIN_NS;
	snapshots->next_bytes = UINT64_MAX;
	snapshots->packets = engine_held_packets(engine);
	if (snapshots->packets > snapshots->held_max || engine_snapshot_waits(engine)) {
		snapshots->next = now + 10 * AGAIN_NS;
		return;
	}
	if (__atomic_load_n(&snapshots->is, __ATOMIC_ACQUIRE) != TAPE_ROOM_WORKERS)
		return;
	snapshot.at = snapshots->room;
	snapshot.end = snapshots->room + snapshots->room_bytes;
	take(tape, engine, now, &snapshot);
	if (snapshot.failed) {
		want_room(tape, engine, now);
		return;
	}
	entry = tape_entry_begin(tape, sizeof(*entry), 0);
	if (!entry)
		return;
	*entry = (struct tape_entry){.bytes = sizeof(*entry),
	                             .kind = TAPE_SNAPSHOT,
	                             .flags = TAPE_LAST,
	                             .t_ns = now,
	                             .number = (uint64_t)(snapshot.at - snapshots->room)};
	__atomic_store_n(&snapshots->needed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&snapshots->is, TAPE_ROOM_FILLED, __ATOMIC_RELEASE);
	tape_publish(tape, entry);
	/* What follows can be repeated again, from here on. */
	tape->lacked_ns = tape->unheld_ns = SIMTIME_NEVER;
	snapshots->begun = true;
	snapshots->next = now + snapshots->every_ns;
	snapshots->next_bytes = tape->written + snapshots->every_bytes;
}

/* ---- the reader's side ---- */

void tape_snapshot_parts(struct tape *tape, const struct tape_entry *entry, struct tape_part *part,
                         void (*put)(void *argument, const struct tape_entry *entry),
                         void *argument)
{
	struct tape_snapshots *snapshots = &tape->snapshots;
	const uint64_t n = entry->number;
	const uint32_t digest = digest_fold(digest_bytes(0, snapshots->room, (uint32_t)n));
	uint64_t done = 0;

	for (uint32_t number = 0; done < n; number++) {
		const uint32_t here = (uint32_t)RTE_MIN((uint64_t)TAPE_PART_BYTES, n - done);
		const uint32_t padded = tape_padded(here);

		part->entry = (struct tape_entry){.bytes = (uint32_t)sizeof(*entry) + padded,
		                                  .kind = TAPE_SNAPSHOT,
		                                  .flags = done + here == n ? TAPE_LAST : 0,
		                                  .n = number,
		                                  .word = digest,
		                                  .t_ns = entry->t_ns,
		                                  .number = n};
		memcpy(part->bytes, snapshots->room + done, here);
		memset(part->bytes + here, 0, padded - here);
		put(argument, &part->entry);
		done += here;
	}
	__atomic_store_n(&snapshots->is, TAPE_ROOM_WORKERS, __ATOMIC_RELEASE);
}

uint64_t tape_room_wanted(const struct tape *tape)
{
	const struct tape_snapshots *snapshots = &tape->snapshots;

	return __atomic_load_n(&snapshots->is, __ATOMIC_ACQUIRE) == TAPE_ROOM_SMALL
	               ? snapshots->needed
	               : 0;
}

int tape_room_answer(struct tape *tape, uint64_t bytes)
{
	struct tape_snapshots *snapshots = &tape->snapshots;
	uint8_t *room = bytes > 0 ? memory_make(bytes) : NULL;

	if (room) {
		memory_free(snapshots->room, snapshots->room_bytes);
		snapshots->room = room;
		snapshots->room_bytes = bytes;
	}
	__atomic_store_n(&snapshots->refused, room == NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&snapshots->is, TAPE_ROOM_WORKERS, __ATOMIC_RELEASE);
	return room ? 0 : -ENOMEM;
}
