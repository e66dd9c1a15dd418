/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of an engine on a tape. */
#include <errno.h>

#include "engine/engine_snapshot.h"
#include "machine/pool.h"
#include "packet/digest.h"
#include "record/tape.h"
#include "record/tape_room.h"
#include "record/tape_snapshot.h"

/* So much of a snapshot is in one entry. */
#define PART_BYTES (UINT32_C(128) << 10)
/* What may be over in a moment is looked at again then; what is not, later. */
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

/* There is room for all of it. */
static void put_parts(struct tape *tape, const uint8_t *bytes, uint64_t n, simtime now)
{
	const uint32_t digest = digest_fold(digest_bytes(0, bytes, (uint32_t)n));
	uint64_t done = 0;

	for (uint32_t part = 0; done < n; part++) {
		const uint32_t here = (uint32_t)RTE_MIN((uint64_t)PART_BYTES, n - done);
		const uint32_t padded = tape_padded(here);
		const uint32_t whole = (uint32_t)sizeof(struct tape_entry) + padded;
		struct tape_entry *entry = tape_entry_begin(tape, whole, 0);

		if (!entry)
			return; /* not whole: as if there were none */
		*entry = (struct tape_entry){.bytes = whole,
		                             .kind = TAPE_SNAPSHOT,
		                             .flags = done + here == n ? TAPE_LAST : 0,
		                             .n = part,
		                             .word = digest,
		                             .t_ns = now,
		                             .number = n};
		memcpy(entry + 1, bytes + done, here);
		memset((uint8_t *)(entry + 1) + here, 0, padded - here);
		tape_publish(tape, entry);
		done += here;
	}
}

static bool put_off(struct tape_snapshots *snapshots, simtime until)
{
	snapshots->next = until;
	snapshots->next_bytes = UINT64_MAX;
	snapshots->put_off++;
	return false;
}

bool tape_snapshot(struct tape *tape, struct engine *engine, simtime now)
{
	struct tape_snapshots *snapshots = &tape->snapshots;
	struct snapshot snapshot = {.at = snapshots->room,
	                            .end = snapshots->room + snapshots->room_bytes,
	                            .snap = tape->snap == UINT32_MAX ? 0 : tape->snap};
	uint64_t bytes;

	snapshots->packets = engine_held_packets(engine);
	if (snapshots->packets > snapshots->held_max || engine_snapshot_waits(engine))
		return put_off(snapshots, now + 10 * AGAIN_NS);
	tape_account_snapshot(&tape->account, &snapshot);
	engine_snapshot(engine, now, &snapshot);
	bytes = (uint64_t)(snapshot.at - snapshots->room);
	if (snapshot.failed)
		return put_off(snapshots, now + snapshots->every_ns);
	/* Each part may leave a gap at the end of the ring. */
	if (tape_room(tape) < 2 * bytes + 4 * PART_BYTES)
		return put_off(snapshots, now + AGAIN_NS);
	put_parts(tape, snapshots->room, bytes, now);
	snapshots->next = now + snapshots->every_ns;
	snapshots->next_bytes = tape->written + snapshots->every_bytes;
	snapshots->taken++;
	return true;
}

void tape_snapshot_took(struct tape *tape, simtime ns)
{
	tape->snapshots.longest_ns = simtime_max(tape->snapshots.longest_ns, ns);
}
