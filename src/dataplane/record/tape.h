/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tape carries all that a worker's engine meets from the worker to the writer of the recording
 * (recording.h). It is a ring of entries (tape_entry.h) in memory of its own: the worker neither
 * waits nor calls the system. An entry that finds no room is left out and counted, and a GAP is put
 * before the next entry that finds room.
 *
 * A tape records what the engine cannot compute: packets as they come in, with their instants,
 * numbers and ages; at which instant, and between which packets, the worker took over a change;
 * packets of weir's own. For comparison, it also records results: a digest of each packet that
 * leaves, the counters of a few clouds from time to time, and what weir itself lost.
 *
 * When memory is short depends on the machine, so what follows cannot be repeated. Ahead of the
 * next entry, the tape then has the instant (TAPE_UNHELD), once.
 *
 * At most `snap` bytes of a frame are kept. Digests of departures then cover fewer bytes: a
 * statement that inserts or removes headers moves the bytes of a frame, and a repetition does not
 * know those behind the snap.
 *
 * Thread: tape_...: the worker, and control when the worker has ended. tape_look and tape_pass: one
 * at a time, the reader.
 */
#ifndef WEIR_TAPE_H
#define WEIR_TAPE_H

#include <stdbool.h>

#include "packet/burst.h"
#include "packet/outlet.h"
#include "record/tape_entry.h"
#include "scenario/scenario.h"
#include "snapshot/snapshot.h"

struct engine;
struct insertion;

/* The most bytes by which statements move a frame, so that bytes behind the snap come to lie before
 * it. */
#define TAPE_MOVES 64u
/* Departures between two checks of counters, and clouds in each check. */
#define TAPE_CHECK_EVERY  1024u
#define TAPE_CHECK_CLOUDS 4u

/* Departures so far, by port. */
struct tape_account {
	uint64_t departed[SCENARIO_PORTS_MAX];
	uint64_t sums[SCENARIO_PORTS_MAX]; /* of their due times */
};

/* Owner and purpose of the room for a snapshot: the worker, to take one; the reader, with a
 * snapshot that is on the tape, until it has been passed; the reader, to enlarge the room. */
enum tape_room_is { TAPE_ROOM_WORKERS, TAPE_ROOM_FILLED, TAPE_ROOM_SMALL };

/* When the engine's state is recorded, so that a flight can begin there. The snapshot lies beside
 * the tape, in a room; its entry on the tape gives its place in the order. The room is small at
 * first. If a snapshot does not fit, the worker stores the size it needs, and continues. The reader
 * then enlarges the room, and the worker tries again. */
struct tape_snapshots {
	uint8_t *room; /* belongs to the owner in `is` */
	uint64_t room_bytes;
	uint32_t is;          /* enum tape_room_is */
	uint64_t needed;      /* size of the latest snapshot that did not fit; 0: it did */
	bool refused;         /* there was no memory for that */
	simtime every_ns;     /* 0: no snapshots */
	uint64_t every_bytes; /* bytes on the tape; the earlier of both counts */
	uint64_t held_max;    /* while the engine holds more packets, none is taken */
	/* of the worker */
	bool begun; /* there is a snapshot and no gap behind it, so packets are recorded */
	simtime next;
	uint64_t next_bytes;
	uint64_t packets; /* held by the engine when a snapshot was due */
};

struct tape {
	uint8_t *data;
	uint64_t size; /* a power of two */
	uint32_t snap; /* UINT32_MAX: whole frames */
	uint32_t digested;
	/* of the worker */
	/* Since the start or the latest snapshot, the earliest instant at which memory was short
	 * (engine_setup.lacked_ns), and what the tape has of it. SIMTIME_NEVER: none. */
	simtime lacked_ns, unheld_ns;
	uint64_t written, taken; /* bytes; `taken` as last read from `passed` */
	simtime now;             /* of the latest entry */
	uint64_t gap_packets;    /* left out since the last entry that found room */
	simtime gap_from;
	bool gap, gap_blind;
	uint64_t packets, missed; /* recorded; not recorded, in a flight also for lack of a
	                           * snapshot */
	struct tape_account account;
	struct tape_snapshots snapshots;
	uint32_t until_check, next_check;
	/* `published` is written by the worker, `passed` by the reader; each reads the other */
	uint64_t published __rte_cache_aligned;
	uint64_t passed __rte_cache_aligned;
	uint64_t seen; /* of the reader: latest value of `published` */
};

/* Returns 0 or -ENOMEM. `bytes` is a power of two, at least 1 MiB. */
int tape_make(struct tape *tape, uint64_t bytes, uint32_t snap);
void tape_free(struct tape *tape); /* one that is all zero is allowed */
/* Configures the tape of a flight: with snapshots, and without a digest of each departure. Returns
 * 0 or -ENOMEM. */
int tape_take_snapshots(struct tape *tape, const struct tape_snapshots *snapshots);

/* Returns how many bytes of a departing frame a digest covers, with this snap. */
uint32_t tape_digested(uint32_t snap);

/* Records a burst, before the engine takes it. */
void tape_burst(struct tape *tape, const struct burst *burst);
/* Directly behind engine_settle. */
void tape_change(struct tape *tape, uint64_t number, simtime now);
void tape_clear(struct tape *tape, simtime now);
void tape_insertion(struct tape *tape, const struct insertion *insertion, simtime now);
/* Records what the engine, which has advanced to `now`, has put into the outlet of a port. */
void tape_departures(struct tape *tape, uint32_t port, const struct outlet *outlet, simtime now);
/* After every TAPE_CHECK_EVERY departures, records the counters of a few clouds and, in a flight,
 * the sums of departures. Records nothing if the engine still has something that was due by `now`,
 * because that could not be compared. */
void tape_check(struct tape *tape, struct engine *engine, simtime now);
/* Returns true if a snapshot is due. */
static inline bool tape_wants_snapshot(const struct tape *tape, simtime now)
{
	return tape->snapshots.every_ns > 0 &&
	       (now >= tape->snapshots.next || tape->written >= tape->snapshots.next_bytes);
}
/* Takes a snapshot, or puts it off. The engine has advanced to `now`, and nothing that is due is
 * left in it or in an outlet. */
void tape_snapshot(struct tape *tape, struct engine *engine, simtime now);
/* Records a packet that no device took in time. */
void tape_unsent(struct tape *tape, uint32_t port, const struct rte_mbuf *mbuf, simtime due_ns);
/* Records the end of the tape. `settled`: all that was due has left, also the outlets. */
void tape_end(struct tape *tape, simtime now, bool settled);

/* ---- the reader's side ---- */

/* Returns the next entry, valid until tape_pass, or NULL if there is none now. */
const struct tape_entry *tape_look(struct tape *tape);
void tape_pass(struct tape *tape, const struct tape_entry *entry);

/* Passes a TAPE_SNAPSHOT that tape_look returned to `put`, part by part, as entries with the part
 * behind them (tape_entry.h). Then gives the room back to the worker. To be called once, before
 * tape_pass. `part` has room for TAPE_PART_BYTES. */
#define TAPE_PART_BYTES (UINT32_C(128) << 10)
struct tape_part {
	struct tape_entry entry;
	uint8_t bytes[TAPE_PART_BYTES];
};
void tape_snapshot_parts(struct tape *tape, const struct tape_entry *entry, struct tape_part *part,
                         void (*put)(void *argument, const struct tape_entry *entry),
                         void *argument);
/* Returns the size of the room that the worker waits for; 0: it does not wait. */
uint64_t tape_room_wanted(const struct tape *tape);
/* Answers: sets the size of the room, or, with 0, leaves it as it is. Returns 0 or -ENOMEM. */
int tape_room_answer(struct tape *tape, uint64_t bytes);

/* Writes or reads the beginning of a snapshot: the departures so far. What engine_snapshot writes
 * follows. */
void tape_account_snapshot(struct tape_account *account, struct snapshot *snapshot);

#endif
