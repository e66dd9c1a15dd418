/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/hold_snapshot.h"

#include <stdlib.h>

#include "holding/train.h"
#include "holding/wheel_burst.h"

/* The flags of a record that belong to the packet. */
#define FLAGS_OF_PACKET 0x00ff
/* Beside them, in a snapshot that shares: the address of an mbuf stands for the frame. */
#define FLAG_SHARED HELD_MBUF

/* ---- one packet ---- */

/* The fields of a packet in a snapshot, before its frame: SAVED_BYTES, in this order. */
struct saved {
	simtime t_ns;
	uint32_t wire_bytes, number, bytes;
	uint16_t flags;
};

#define SAVED_BYTES 22
_Static_assert(offsetof(struct saved, flags) + sizeof(uint16_t) == SAVED_BYTES, "without gaps");

static void saved_head(struct snapshot *snapshot, struct saved *saved)
{
	const uint16_t flags = FLAGS_OF_PACKET | (snapshot->shares ? FLAG_SHARED : 0);

	snapshot_bytes(snapshot, saved, SAVED_BYTES);
	snapshot_holds(snapshot,
	               saved->bytes <= PACKET_BYTES_MAX && saved->bytes <= saved->wire_bytes &&
	                       saved->wire_bytes <= INT32_MAX && (saved->flags & ~flags) == 0 &&
	                       saved->t_ns < SIMTIME_HORIZON);
}

/* Writes a frame; snapshot_bytes does not change it then. */
static void frame_write(struct snapshot *snapshot, const void *data, uint32_t bytes)
{
	snapshot_bytes(snapshot, (void *)(uintptr_t)data, bytes);
}

static void chain_write(struct snapshot *snapshot, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	for (uint32_t part; bytes > 0; bytes -= part, mbuf = mbuf->next) {
		part = RTE_MIN((uint32_t)mbuf->data_len, bytes);
		frame_write(snapshot, rte_pktmbuf_mtod(mbuf, const uint8_t *), part);
	}
}

/* Writes a packet of a record. `data`: as in the record, its frame, or the address of its mbuf. */
static void packet_write(struct snapshot *snapshot, const struct held *held, simtime t_ns,
                         uint32_t number, const uint8_t *data)
{
	const uint32_t snap = snapshot->snap ? snapshot->snap : UINT32_MAX;
	const struct rte_mbuf *mbuf = NULL;
	struct saved saved = {.t_ns = t_ns, .wire_bytes = held->wire_bytes, .number = number};

	saved.flags = held->flags & FLAGS_OF_PACKET;
	if (held->flags & HELD_MBUF)
		memcpy(&mbuf, data, sizeof(mbuf));
	if (mbuf && snapshot->shares) {
		/* The mbuf, which is cold, is read only when it is copied. */
		saved.flags |= FLAG_SHARED;
		saved_head(snapshot, &saved);
		snapshot_value(snapshot, mbuf);
		return;
	}
	saved.bytes = RTE_MIN(mbuf ? mbuf->pkt_len : held->stored_bytes, snap);
	saved_head(snapshot, &saved);
	if (mbuf)
		chain_write(snapshot, mbuf, saved.bytes);
	else
		frame_write(snapshot, data, saved.bytes);
}

/* Reads the next frame into mbufs of the pool. Returns NULL if there are none. */
static struct rte_mbuf *frame_read(struct snapshot *snapshot, struct rte_mempool *pool,
                                   uint32_t bytes)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	while (mbuf) {
		struct rte_mbuf *last = rte_pktmbuf_lastseg(mbuf), *more;
		const uint32_t part = RTE_MIN(bytes, (uint32_t)rte_pktmbuf_tailroom(last));

		snapshot_bytes(snapshot, rte_pktmbuf_append(mbuf, (uint16_t)part), part);
		bytes -= part;
		if (bytes == 0)
			return mbuf;
		more = rte_pktmbuf_alloc(pool);
		if (!more || rte_pktmbuf_chain(mbuf, more) < 0) {
			rte_pktmbuf_free(more);
			break;
		}
	}
	rte_pktmbuf_free(mbuf);
	return NULL;
}

/* Copies a frame that stays where it is. Returns NULL if the pool has no mbufs. */
static struct rte_mbuf *shared_read(struct snapshot *snapshot, struct rte_mempool *pool)
{
	const struct rte_mbuf *mbuf = NULL;

	snapshot_value(snapshot, mbuf);
	return mbuf ? rte_pktmbuf_copy(mbuf, pool, 0, UINT32_MAX) : NULL;
}

/* Reads the next packet as a burst of one. Returns false if that failed. */
static bool packet_read(struct snapshot *snapshot, struct holder *holder, struct burst *burst)
{
	struct saved saved = {0};
	struct rte_mbuf *mbuf;

	saved_head(snapshot, &saved);
	if (saved.flags & FLAG_SHARED)
		mbuf = shared_read(snapshot, holder->pool);
	/* Its length is trusted only if the snapshot has so many bytes left. */
	else if (snapshot_holds(snapshot, (size_t)(snapshot->end - snapshot->at) >= saved.bytes))
		mbuf = frame_read(snapshot, holder->pool, saved.bytes);
	else
		return false;
	if (!snapshot_holds(snapshot, mbuf != NULL))
		return false;
	burst_one(burst, mbuf, 0, saved.t_ns, saved.number, saved.wire_bytes, (uint8_t)saved.flags);
	return true;
}

/* ---- a log of packets ---- */

/* Writes the packets of all records that have not left, from the oldest to the latest. Returns how
 * many. */
static uint64_t records_write(struct snapshot *snapshot, const struct log *log)
{
	struct log_walk walk = log_walk(log);
	const struct held *held;
	uint64_t n = 0;

	while ((held = log_walk_next(&walk))) {
		for (uint16_t i = held->gone; i < held->n; i++, n++)
			packet_write(snapshot, held, held->t_ns, held->number + i,
			             held->data + i * held_stride(held));
	}
	return n;
}

void log_snapshot(struct log *log, struct holder *holder, bool in_order, struct snapshot *snapshot)
{
	uint8_t *count = snapshot->at;
	uint64_t n = 0;
	simtime t_ns = 0;

	snapshot_value(snapshot, n);
	if (!snapshot->restores) {
		n = records_write(snapshot, log);
		snapshot_later(snapshot, count, &n, sizeof(n));
		return;
	}
	for (; n > 0; n--) {
		struct burst burst;

		if (!packet_read(snapshot, holder, &burst))
			return;
		if (!snapshot_holds(snapshot, !in_order || burst.t >= t_ns) ||
		    !snapshot_holds(snapshot,
		                    train_push(log, holder, &burst, 0, 1, &burst.t, true) == 1)) {
			rte_pktmbuf_free(burst.mbuf[0]);
			return;
		}
		t_ns = burst.t;
	}
}

/* ---- a log of notes ---- */

static void note_append(struct log *log, struct holder *holder, struct snapshot *snapshot)
{
	uint16_t bytes = 0;
	struct held *held;

	snapshot_value(snapshot, bytes);
	if (!snapshot_holds(snapshot, bytes <= LOG_STORED_MAX))
		return;
	held = log_append(log, &holder->arena, bytes);
	if (!snapshot_holds(snapshot, held != NULL))
		return;
	held->stored_bytes = bytes;
	snapshot_bytes(snapshot, held->data, bytes);
}

void notes_snapshot(struct log *log, struct holder *holder, struct snapshot *snapshot)
{
	struct log_walk walk = log_walk(log);
	uint64_t n = log->records;
	const struct held *held;

	snapshot_value(snapshot, n);
	if (snapshot->restores) {
		for (; n > 0 && !snapshot->failed; n--)
			note_append(log, holder, snapshot);
		return;
	}
	while ((held = log_walk_next(&walk))) {
		uint16_t bytes = held->stored_bytes;

		snapshot_value(snapshot, bytes);
		frame_write(snapshot, held->data, bytes);
	}
}

/* ---- a wheel ---- */

/* An entry of a wheel, and where the rest of it begins in the snapshot. */
struct entry {
	simtime t_ns;
	uint64_t number;
	const uint8_t *at;
};

#define CLOUD_OF_TIMER 0x80000000u /* until format 4: a timer, which is no packet */

struct writing {
	struct snapshot *snapshot;
	bool shared; /* timers stand between packets, so these keep their numbers */
	uint64_t n;
};

static void entry_write(void *argument, simtime t_ns, uint64_t number, const struct held *held)
{
	struct writing *writing = argument;
	struct snapshot *snapshot = writing->snapshot;
	uint32_t cloud = held->cloud, bytes = 0;
	uint8_t *length;

	snapshot_value(snapshot, t_ns);
	if (writing->shared)
		number = held->t_ns;
	snapshot_value(snapshot, number);
	snapshot_value(snapshot, cloud);
	length = snapshot->at;
	snapshot_value(snapshot, bytes);
	packet_write(snapshot, held, t_ns, held->number, held->data);
	if (snapshot->failed)
		return;
	bytes = (uint32_t)(snapshot->at - length - sizeof(bytes));
	snapshot_later(snapshot, length, &bytes, sizeof(bytes));
	writing->n++;
}

static void wheel_write(struct wheel *wheel, bool shared, struct snapshot *snapshot)
{
	uint64_t n = 0;
	uint8_t *count = snapshot->at;
	struct writing writing = {.snapshot = snapshot, .shared = shared};

	snapshot_value(snapshot, n);
	if (shared)
		snapshot_value(snapshot, wheel->inserted);
	wheel_walk(wheel, entry_write, &writing);
	snapshot_later(snapshot, count, &writing.n, sizeof(writing.n));
}

static int entry_order(const void *a, const void *b)
{
	const struct entry *one = a, *two = b;

	if (one->t_ns != two->t_ns)
		return one->t_ns < two->t_ns ? -1 : 1;
	return one->number < two->number ? -1 : one->number > two->number;
}

/* An entry takes at least so many bytes. */
#define ENTRY_LEAST 24

static struct entry *entries_find(struct snapshot *snapshot, uint64_t n)
{
	struct entry *entries = calloc(n + 1, sizeof(*entries));
	uint32_t cloud = 0, bytes = 0;

	for (uint64_t i = 0; entries && i < n; i++) {
		snapshot_value(snapshot, entries[i].t_ns);
		snapshot_value(snapshot, entries[i].number);
		entries[i].at = snapshot->at;
		snapshot_value(snapshot, cloud);
		snapshot_value(snapshot, bytes);
		if (!snapshot_holds(snapshot, (size_t)(snapshot->end - snapshot->at) >= bytes)) {
			free(entries);
			return NULL;
		}
		snapshot->at += bytes;
	}
	if (entries)
		qsort(entries, n, sizeof(*entries), entry_order);
	return entries;
}

static void entry_append(struct snapshot *snapshot, struct wheel *wheel, struct holder *holder,
                         uint32_t own, const struct snapshot_clouds *clouds,
                         const struct entry *entry)
{
	struct snapshot one = *snapshot;
	uint32_t cloud = 0, bytes = 0, index;
	struct burst burst;

	one.at = (uint8_t *)(uintptr_t)entry->at;
	snapshot_value(&one, cloud);
	snapshot_value(&one, bytes);
	if (cloud & CLOUD_OF_TIMER)
		return;
	if (!clouds)
		index = own;
	else
		index = cloud < clouds->n ? clouds->index[cloud] : UINT32_MAX;
	if (!snapshot_holds(snapshot, index != UINT32_MAX))
		return;
	if (packet_read(&one, holder, &burst) &&
	    wheel_burst_push(wheel, holder, index, &burst, 0, 1, &entry->t_ns, !clouds) == 0) {
		rte_pktmbuf_free(burst.mbuf[0]);
		one.failed = true;
	}
	snapshot->failed |= one.failed;
}

static void wheel_read(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                       const struct snapshot_clouds *clouds, simtime now, struct snapshot *snapshot)
{
	struct entry *entries;
	const bool numbered = clouds && snapshot->format > 4;
	uint64_t n = 0, inserted = 0;

	snapshot_value(snapshot, n);
	if (numbered)
		snapshot_value(snapshot, inserted);
	if (!snapshot_holds(snapshot, n <= (uint64_t)(snapshot->end - snapshot->at) / ENTRY_LEAST))
		return;
	entries = entries_find(snapshot, n);
	if (!snapshot_holds(snapshot, entries != NULL))
		return;
	wheel_idle_until(wheel, now);
	for (uint64_t i = 0; i < n && !snapshot->failed; i++) {
		if (numbered)
			wheel->inserted = entries[i].number;
		if (snapshot_holds(snapshot, entries[i].t_ns >= now &&
		                                     entries[i].t_ns - now < WHEEL_AHEAD_MAX))
			entry_append(snapshot, wheel, holder, cloud, clouds, &entries[i]);
	}
	if (numbered)
		wheel->inserted = inserted;
	free(entries);
}

void wheel_snapshot(struct wheel *wheel, struct holder *holder, uint32_t cloud, simtime now,
                    const struct snapshot_clouds *clouds, struct snapshot *snapshot)
{
	if (snapshot->restores)
		wheel_read(wheel, holder, cloud, clouds, now, snapshot);
	else
		wheel_write(wheel, clouds != NULL, snapshot);
}
