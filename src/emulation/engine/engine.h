/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: all clouds of one worker, and their events in the order of time.
 *
 * It is a discrete-event simulation executed lazily. Packets come in with their instants;
 * engine_advance() executes every event up to an instant and puts the packets that leave into the
 * outlet of their port, with their due times. A live worker stamps each received burst from its
 * clock and advances to the same reading; a replay steps from capture time to capture time. The
 * engine cannot tell which.
 *
 * The output is a function of (instants at ingress, scenario, seed). It does not depend on the size
 * of bursts, nor on how often engine_advance() is called.
 *
 * Ownership: engine_ingress() always takes ownership of all mbufs. The driver takes the mbufs out
 * of the outlets and resets their n. The mempool and the memory belong to the caller and must
 * outlive the engine.
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
struct holder;
struct witness;

struct engine_setup {
	const struct statement *const *statements; /* the ordered table, terminated by NULL */
	struct rte_mempool *pool; /* mbufs with PACKET_PRIVATE_BYTES of private area */
	void *memory;             /* for small packets that are held; 64-byte aligned */
	size_t memory_bytes;
	uint64_t seed;
	struct witness *witness; /* or NULL */
	/* Lowered to the earliest instant at which a packet finds no memory, or an event has to
	 * wait for memory beyond its instant; the owner sets it to SIMTIME_NEVER. From that instant
	 * on, the output depends on the machine, too. NULL: nobody wants to know. */
	simtime *lacked_ns;
	/* The clouds of a template are made when packets come (template.h), by the thread that
	 * calls engine_ingress, which is control, too. Requires that `live` is false. */
	bool clouds_on_demand;
	bool live; /* ports have devices, whose latencies are subtracted (port_setting.h) */
	/* Maximum number of the pool's mbufs that may hold large frames, so that some always remain
	 * for devices and for departing frames; 0: no bound, for a pool that grows. */
	uint32_t kept_mbufs_max;
	uint32_t copy_bytes_max; /* maximum length of a frame that is copied; 0: the default */
	const struct classifier_filters
	        *filters; /* for `match` (classifier.h); NULL: exact ones only */
	/* Called for large memory that was just allocated, aligned to 2 MiB, and will be used
	 * throughout: backs it by large pages if possible. NULL: the memory stays as it is.
	 * Thread: control. */
	void (*spread)(void *memory, size_t bytes);
	/* Called in the middle of a call when the outlet of this port is full, or a packet that
	 * leaves there gets no mbuf: empties the outlet. What a device does not take waits behind
	 * it (port/tx_queue.h). The engine has executed only some of the events up to the instant
	 * of the call. Required. Thread: worker. */
	void (*make_room)(void *argument, uint32_t port);
	void *room_argument;
};

struct engine;

/* Creates an engine. Returns NULL with errno set on failure: ENOMEM, or EINVAL if the private area
 * of the pool's mbufs has another size. Thread: control. */
struct engine *engine_make(const struct engine_setup *setup);
/* Drops all packets in clouds and outlets, and frees every cloud and the engine. */
void engine_free(struct engine *engine);

/* Takes a burst of at most BURST_MAX packets that came in at a port, in order and not before any
 * instant that the engine has advanced to. Overwrites the burst. */
void engine_ingress(struct engine *engine, struct burst *burst);

/* Packets of weir's own that take the path of a cloud's packets: n frames of
 * frame_bytes bytes each, one behind the other. */
struct insertion {
	const char *cloud; /* the cloud whose stages they enter */
	uint32_t n, frame_bytes;
	const uint8_t *frames;
};
/* Inserts the packets at `now`, which must not precede any instant that the engine has advanced to.
 * A packet that gets no mbuf counts as generated and dropped. Returns 0 if the engine has no such
 * cloud, else n. */
uint32_t engine_insert(struct engine *engine, const struct insertion *insertion, simtime now);
/* Executes all events up to and including `now`, except that at most OUTLET_ROOM packets leave a
 * line on which no other cloud depends: a worker that has fallen behind receives before the others
 * leave. Returns how many packets were put into outlets since it last returned. */
uint32_t engine_advance(struct engine *engine, simtime now);
/* Lets the others leave, too. To be called before a change, engine_clear and engine_insert, after
 * engine_advance has reached `now`: so the next operation finds the clouds in the state that the
 * instant implies. Packets for which the pool has no mbuf stay in their clouds (lacked_ns). */
void engine_settle(struct engine *engine, simtime now);
/* Says whether packets of this port wait behind its outlet, because its device takes no more. As
 * long as they do, engine_advance leaves what is due on a line on which no other cloud depends,
 * where waiting costs nothing. */
void engine_stall(struct engine *engine, uint32_t port, bool stalled);
/* Returns true if engine_ingress has put packets into outlets since engine_advance last returned.
 * These packets are due. */
bool engine_has_left(const struct engine *engine);
/* Returns the instant of the earliest event to come, or SIMTIME_NEVER if there is none. */
simtime engine_next(const struct engine *engine);
/* Returns the outlet of a port, which contains the packets that are due there, in order. */
struct outlet *engine_outlet(struct engine *engine, uint32_t port);
/* Returns the departure of the head of the queue that a packet from this port enters, or
 * SIMTIME_NEVER if the link is idle, or if the port has no cloud or several. At one instant, a
 * departure precedes an arrival (docs/rate.md). A driver that wants the arrival first stamps the
 * packet a nanosecond earlier. */
simtime engine_departure(const struct engine *engine, uint32_t port);

/* Executes the schedules of a cloud up to and including `now`, also if the cloud is at rest.
 * Everything that happens by `now` must have happened. Writes the rate at which its link sends from
 * then on, in bit/s: 0 if the link is stopped, the mean of a trace of opportunities, and
 * OBSERVED_NO_LIMIT without a rate. Returns the next instant of its schedules, or SIMTIME_NEVER. */
simtime engine_link_rate(struct engine *engine, const char *cloud, simtime now, uint64_t *rate_bps);

/* Chooses a witness for each cloud, in place of the one in the setup. */
struct engine_followed {
	const char *name; /* of a template's cloud: the name of the template */
	uint32_t from_port, to_port;
};
struct engine_follower {
	/* Returns the witness of this cloud, which must exist as long as the engine does, or NULL
	 * for none. Thread: worker. If the pointer itself is NULL, each cloud has the witness of
	 * the setup again. */
	struct witness *(*choose)(void *argument, const struct engine_followed *cloud);
	void *argument;
};
/* Sets the follower. Calls it for 64 clouds now, for 64 more in each engine_advance, and for all
 * clouds again after each change. Thread: worker. */
void engine_follow(struct engine *engine, const struct engine_follower *follower);
/* Returns true as long as the follower has not been called for all clouds. Thread: worker. */
bool engine_follows_more(const struct engine *engine);

/* Return the number of packets held, and the bytes of memory used, at this moment. Thread: any; a
 * moment old. */
uint64_t engine_held_packets(const struct engine *engine);
uint64_t engine_memory_used(const struct engine *engine);
/* Returns the number of packets that were dropped because no cloud took them: the port has no
 * cloud, or several that lead to different ports, and none of them matched. */
uint64_t engine_no_cloud(const struct engine *engine, uint32_t port);
/* Returns the number of packets that matched none of a port's clouds, and passed untouched because
 * all these clouds lead to the same port. `scenario` has the ports of the engine's. */
uint64_t engine_untouched(const struct engine *engine, const struct scenario *scenario,
                          uint32_t port);
/* Returns the number of packets that have left their clouds at this port. */
uint64_t engine_sent(const struct engine *engine, uint32_t port);
/* Returns the memory in which the engine holds packets, for those that wait behind an outlet. */
struct holder *engine_holder(struct engine *engine);

/* Sets the counters and histograms of all clouds to zero. Packets in flight count as received anew,
 * so that conservation holds. Thread: worker. */
void engine_clear(struct engine *engine);

/* Returns the bytes of memory that a held packet of this length on the wire takes. For `check`.
 * Thread: control. */
uint64_t engine_packet_cost(uint32_t frame_bytes);

#endif
