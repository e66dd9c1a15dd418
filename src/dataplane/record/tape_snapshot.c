/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts snapshots of an engine on a tape. */
#include <errno.h>

#include "engine/engine_snapshot.h"
#include "machine/pool.h"
#include "packet/digest.h"
#include "record/tape.h"
#include "record/tape_room.h"
#include "record/tape_snapshot.h"

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
