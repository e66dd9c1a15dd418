/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tape: all that a worker's engine meets, on its way from the worker to who writes it down
 * (recording.h). It is a ring of entries (tape_entry.h) in memory of its own: the worker neither
 * waits nor calls the system. What finds no room is left out and counted, and the next entry that
 * finds room stands behind a GAP that says so.
 *
 * What is recorded is what the engine cannot know by itself: packets as they come in, with their
 * instants, numbers and ages; at which instant, and between which packets, the worker took over a
 * change; packets of weir's own. And what it made of them, to compare: a digest of each packet that
 * leaves, the counters of a few clouds from time to time, and what weir itself lost.
 *
 * Of a frame up to `snap` bytes are kept. A digest of what leaves covers fewer then: what a
 * statement puts in or takes off moves the bytes, and of those behind the snap a repetition knows
 * nothing.
 *
 * Thread: tape_... the worker's, and control's when the worker has ended. tape_look and tape_pass:
 * one at a time, the reader.
 */
#ifndef WEIR_TAPE_H
#define WEIR_TAPE_H

#include <stdbool.h>

#include "account/scarcity.h"
#include "packet/burst.h"
#include "packet/outlet.h"
#include "record/tape_entry.h"
#include "scenario/scenario.h"

struct engine;
struct insertion;

/* By how much headers may grow, at most, so that bytes behind the snap come into its front. */
#define TAPE_MOVES 64u
/* Departures from one look at the counters of clouds to the next, and clouds that are looked at. */
#define TAPE_CHECK_EVERY  1024u
#define TAPE_CHECK_CLOUDS 4u

/* What has left, at each port. */
struct tape_account {
	uint64_t departed[SCENARIO_PORTS_MAX];
	uint64_t sums[SCENARIO_PORTS_MAX]; /* of their due times */
};

/* Whose the room of a snapshot is: the worker's to make one; the reader's, with one that stands on
 * the tape, until it has been passed; the reader's, to make it larger. */
enum tape_room_is { TAPE_ROOM_WORKERS, TAPE_ROOM_FILLED, TAPE_ROOM_SMALL };

/* When the engine's state is put on the tape, so that a flight can begin there. It stands beside
 * the tape, in a room: the entry says where in the order of things. The room begins small. When a
 * snapshot does not fit, the worker says how much it takes, and goes on; the reader makes the room
 * larger, and the worker tries again. */
struct tape_snapshots {
	uint8_t *room; /* its owner's */
	uint64_t room_bytes;
	uint32_t is;          /* enum tape_room_is */
	uint64_t needed;      /* by the latest that did not fit; 0: it did */
	bool refused;         /* there is no memory for so much */
	simtime every_ns;     /* 0: there are none */
	uint64_t every_bytes; /* on the tape; whichever comes first */
	uint64_t held_max;    /* while the engine holds more packets there is none */
	/* the worker's */
	bool begun; /* there is one, and no gap behind it: packets are put on the tape */
	simtime next;
	uint64_t next_bytes;
	uint64_t packets; /* that were held when one was due */
};

struct tape {
	struct scarcity scarcity; /* first: told of packets that found no memory */
	uint8_t *data;
	uint64_t size; /* a power of two */
	uint32_t snap; /* 0: whole frames */
	uint32_t digested;
	/* the worker's */
	uint64_t written, taken; /* bytes; the latter as it was seen last */
	simtime now;             /* of the latest entry */
	uint64_t gap_packets;    /* since the last entry that found room */
	simtime gap_from;
	bool gap, gap_blind;
	uint64_t packets, missed; /* recorded; and not, of a flight also for want of a snapshot */
	struct tape_account account;
	struct tape_snapshots snapshots;
	uint32_t noted[SCENARIO_PORTS_MAX]; /* of what lies in the outlet */
	uint32_t until_check, next_check;
	/* the worker writes, the reader reads, and the other way round */
	uint64_t published __rte_cache_aligned;
	uint64_t passed __rte_cache_aligned;
	uint64_t seen; /* the reader's: of `published` */
};

/* `bytes`: a power of two, 1 MiB at least. 0 or -ENOMEM. */
int tape_make(struct tape *tape, uint64_t bytes, uint32_t snap);
void tape_free(struct tape *tape); /* one that is all zero is allowed */
/* Of a flight: with snapshots, and without a digest of each packet that leaves. 0 or -ENOMEM. */
int tape_take_snapshots(struct tape *tape, const struct tape_snapshots *snapshots);

/* How many bytes of what leaves a digest covers, with this snap. */
uint32_t tape_digested(uint32_t snap);

/* A burst that the engine is about to get. */
void tape_burst(struct tape *tape, const struct burst *burst);
/* `settled`: as engine_settle said, right ahead of this. */
void tape_change(struct tape *tape, uint64_t number, simtime now, bool settled);
void tape_clear(struct tape *tape, simtime now, bool settled);
void tape_insertion(struct tape *tape, const struct insertion *insertion, simtime now,
                    bool settled);
/* The engine has advanced to `now`, and this is in the outlet of a port. */
void tape_departures(struct tape *tape, uint32_t port, const struct outlet *outlet, simtime now);
/* So many are left in it. */
static inline void tape_left(struct tape *tape, uint32_t port, uint32_t n)
{
	tape->noted[port] = n;
}
/* All that is due at `now` has left: compares well. Does something once in TAPE_CHECK_EVERY
 * departures. */
void tape_check(struct tape *tape, struct engine *engine, simtime now);
/* Whether it is time for a snapshot. */
static inline bool tape_wants_snapshot(const struct tape *tape, simtime now)
{
	return tape->snapshots.every_ns > 0 &&
	       (now >= tape->snapshots.next || tape->written >= tape->snapshots.next_bytes);
}
/* The engine has advanced to `now`, and nothing that is due is left in it or in an outlet. Takes
 * one, or puts it off. */
void tape_snapshot(struct tape *tape, struct engine *engine, simtime now);
/* No device took it in time. */
void tape_unsent(struct tape *tape, uint32_t port, const struct rte_mbuf *mbuf, simtime due_ns);
/* `settled`: all that was due has left, also the outlets. */
void tape_end(struct tape *tape, simtime now, bool settled);

/* ---- the reader's end ---- */

/* The next entry, which stays until tape_pass; NULL: there is none now. */
const struct tape_entry *tape_look(struct tape *tape);
void tape_pass(struct tape *tape, const struct tape_entry *entry);

/* A TAPE_SNAPSHOT that was looked at, part after part, as entries with the part behind them
 * (tape_entry.h). Then the room is the worker's again: once, ahead of tape_pass. `part` has room
 * for TAPE_PART_BYTES. */
#define TAPE_PART_BYTES (UINT32_C(128) << 10)
struct tape_part {
	struct tape_entry entry;
	uint8_t bytes[TAPE_PART_BYTES];
};
void tape_snapshot_parts(struct tape *tape, const struct tape_entry *entry, struct tape_part *part,
                         void (*put)(void *argument, const struct tape_entry *entry),
                         void *argument);
/* So much is wanted for a room, which the worker waits for; 0: it does not. */
uint64_t tape_room_wanted(const struct tape *tape);
/* Then: the room becomes so large, or, with 0, stays as it is. 0 or -ENOMEM. */
int tape_room_answer(struct tape *tape, uint64_t bytes);

#endif
