/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: all clouds of one worker, and their events in the order of time.
 *
 * It is a discrete-event simulation executed lazily. Packets come in with their instants; advance()
 * executes every event up to an instant and puts what leaves into the outlet of its port, with the
 * due time. A live worker stamps each received burst from its clock and advances to the same
 * reading; a replay steps from capture time to capture time. The engine cannot tell which.
 *
 * What comes out is a function of (instants at ingress, scenario, seed). It does not depend on the
 * size of bursts nor on how often advance() is called.
 *
 * Ownership: ingress takes the mbufs, all of them, always. The driver takes the mbufs out of the
 * outlets and sets their n back. The mempool and the memory belong to the caller and must outlive
 * the engine.
 * Thread: the worker's, except where it says control.
 */
#ifndef WEIR_ENGINE_H
#define WEIR_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "packet/outlet.h"
#include "scenario/scenario.h"

struct classifier_filters;
struct scarcity;
struct witness;

struct engine_setup {
	const struct statement *const *statements; /* the table, ended by NULL; its order counts */
	struct rte_mempool *pool; /* mbufs with PACKET_PRIVATE_BYTES of private area */
	void *memory;             /* where small packets are held; 64-byte aligned */
	size_t memory_bytes;
	uint64_t seed;
	struct witness *witness;   /* or NULL */
	struct scarcity *scarcity; /* which packets find no memory (scarcity.h); or NULL */
	bool live; /* ports have devices, whose latencies are subtracted (port_setting.h) */
	/* mbufs of the pool in which large frames may be held, so that some are always left for
	 * devices and for frames that leave; 0: no bound, for a pool that grows */
	uint32_t kept_mbufs_max;
	uint32_t copy_bytes_max; /* frames up to this are copied out of their mbufs; 0: the default
	                          */
	const struct classifier_filters
	        *filters; /* for `match` (classifier.h); or NULL: exact ones only */
	/* Large memory that was just allocated, at a multiple of 2 MiB, and is going to be touched
	 * all over: in large pages, if that can be. NULL: as it is. Control. */
	void (*spread)(void *memory, size_t bytes);
	/* The outlet of this port is full in the middle of a call: empties it, as far as that is
	 * possible, from its front. The engine has executed part of what happens up to the instant
	 * of the call. NULL: only between calls. Worker. */
	void (*make_room)(void *argument, uint32_t port);
	void *room_argument;
};

struct engine;

/* Control. NULL and errno: ENOMEM, or EINVAL when the pool's mbufs have another private area. */
struct engine *engine_make(const struct engine_setup *setup);
/* Drops all that is held, and frees every cloud. Outlets are emptied too. */
void engine_free(struct engine *engine);

/* Packets that came in at a port, in order and not before any instant the engine has advanced to;
 * at most BURST_MAX. The burst is written over. */
void engine_ingress(struct engine *engine, struct burst *burst);

/* Packets of weir's own that take the way of a cloud's packets (cloud_insert): n frames of so many
 * bytes each, one behind the other. */
struct insertion {
	const char *cloud; /* whose stages they meet first */
	uint32_t n, frame_bytes;
	const uint8_t *frames;
};
/* They come in at `now`, which is not before any instant that the engine has advanced to. For want
 * of an mbuf one counts as generated and dropped. 0 if the engine has no such cloud, else n. */
uint32_t engine_insert(struct engine *engine, const struct insertion *insertion, simtime now);
/* Executes what happens up to and at `now`. Returns how many packets were put into outlets since it
 * returned last. */
uint32_t engine_advance(struct engine *engine, simtime now);
/* Ahead of a change, of engine_clear and of engine_insert: also what is due by `now` and finds no
 * room in its outlet leaves its cloud, and waits behind the outlet, so that what comes then finds
 * clouds in the state that the instant gives them. engine_advance has come to `now`. False: there
 * was no memory for all of it; the remainder is in its clouds. */
bool engine_settle(struct engine *engine, simtime now);
/* Whether ingress has put packets into outlets since engine_advance returned last. They are due. */
bool engine_has_left(const struct engine *engine);
/* The instant of the earliest event that is still to come, SIMTIME_NEVER if there is none. */
simtime engine_next(const struct engine *engine);
/* What is due at a port. When it is full the engine asks for room (make_room); without, it keeps
 * further packets until the driver has made some: they leave late, with their due times, and
 * nothing is lost. What happens to a packet in its clouds does not depend on it, also where several
 * clouds meet: those of shared clouds have left them, and wait behind the outlet. Packets that are
 * due in the same nanosecond may then leave in another order than they would have. A driver that
 * wants the same bytes every time (a replay) gives the engine a make_room that always makes room; a
 * worker's makes room as long as its devices take all. */
struct outlet *engine_outlet(struct engine *engine, uint32_t port);
/* When the head of the queue that a packet meets which comes in at this port leaves its link:
 * SIMTIME_NEVER if the link is idle, or if the port has no cloud or several. At one instant a head
 * leaves before a packet comes (docs/rate.md); a driver that wants that packet first lets it come a
 * nanosecond earlier. */
simtime engine_departure(const struct engine *engine, uint32_t port);

/* Who is told of which clouds, in the place of the witness of the setup. */
struct engine_followed {
	const char *name; /* of a cloud of a template: the template's */
	uint32_t from_port, to_port;
};
struct engine_follower {
	/* Worker: the witness of this cloud, which is there as long as the engine is; NULL: none.
	 * NULL in the place of the function: each has that of the setup again. */
	struct witness *(*choose)(void *argument, const struct engine_followed *cloud);
	void *argument;
};
/* Worker. Asks about 64 clouds now, about 64 more in each engine_advance, and again about all after
 * each change. */
void engine_follow(struct engine *engine, const struct engine_follower *follower);

/* Packets and bytes of memory that are held at this moment (any thread: a moment old). */
uint64_t engine_held_packets(const struct engine *engine);
uint64_t engine_memory_used(const struct engine *engine);
/* Packets that no cloud took, and that were dropped: the port has none, or has several that lead to
 * different ports and none of them chose it. */
uint64_t engine_no_cloud(const struct engine *engine, uint32_t port);
/* Packets that none of a port's clouds chose, and that passed untouched, because all of them lead
 * to the same port. */
uint64_t engine_untouched(const struct engine *engine, uint32_t port);
/* Packets that have left their clouds at this port. */
uint64_t engine_sent(const struct engine *engine, uint32_t port);
/* Of those, the ones that wait behind a full outlet. */
uint64_t engine_late(const struct engine *engine, uint32_t port);

/* Sets the counters and histograms of all clouds to zero; packets in flight count as received
 * anew, so that conservation holds. Worker. */
void engine_clear(struct engine *engine);

/* Bytes of memory that a held packet of this length on the wire takes (control; for `check`). */
uint64_t engine_packet_cost(uint32_t frame_bytes);

#endif
