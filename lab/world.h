/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world of one run: an engine with its clouds, the network of links between them, hosts, their
 * timers, and the loop that executes the earliest of all events next. Virtual time only: the result
 * is a function of what was built and of the seed.
 *
 * At one instant, the engine's events come first, then the timers in the order in which they were
 * set. So if a packet comes to a link at the instant when another leaves it, that one has left
 * already. With `arrivals_first`, as in ns-2, a host's packet arrives before that departure, and
 * the link takes its next packet after it: the timers of an instant come before the engine's
 * events, and such a packet, and no other, enters its cloud a nanosecond earlier. The link is busy
 * until then, so nothing is sent earlier because of it. Packets from one cloud into the next always
 * have the engine's order.
 *
 * Ownership: the world owns engine, pool, hosts; the scenario passes to it. Listeners and owners of
 * timers must outlive it, or stop listening and clear their timers before.
 * Thread: one.
 */
#ifndef WEIR_LAB_WORLD_H
#define WEIR_LAB_WORLD_H

#include "lab/network.h"
#include "lab/platform.h"

#define HOST_FIRST_PORT 10000
#define WORLD_SPARES    32u

struct world_counters {
	uint64_t frames;    /* sent by hosts */
	uint64_t broken;    /* arrived at a host with a wrong checksum */
	uint64_t strangers; /* arrived where no host listens, or had no way */
};

struct world {
	const struct platform *platform;
	struct network network;
	struct heap heap;
	simtime now_ns;
	simtime advanced_ns; /* the engine's time */
	bool arrivals_first; /* set it before world_run */
	struct rte_mempool *pool;
	void *memory;
	struct scenario *scenario;
	struct engine *engine;
	uint64_t numbered[SCENARIO_PORTS_MAX];
	/* what has left in the middle of a call of the engine; n of it, in order */
	struct world_left *left;
	uint32_t n_left, left_room;
	bool silent;  /* hosts send nothing more */
	bool touched; /* a packet has entered a cloud: the engine's next event may have
	                   * changed */
	int error;    /* the first: memory or ports have run out */
	struct world_counters counters;
	/* mbufs of frames that have arrived, as a stack: the next frame is written into the one
	 * that is warmest in the cache. */
	struct rte_mbuf *spare[WORLD_SPARES];
	uint32_t n_spare;
	/* Receives each frame that a cloud takes in or gives out, at the port; or NULL. */
	void (*tap)(void *argument, uint32_t port, const struct rte_mbuf *mbuf, simtime now);
	void *tap_argument;
};

/* Opens a world whose `network` is set, routed, without hosts. The scenario has the ports that
 * network_print prints, in that order. Returns 0, or -errno with problem. */
int world_open(struct world *world, const struct platform *platform, const char *name,
               struct scenario *scenario, uint64_t seed, struct problem *problem);
void world_close(struct world *world);

/* Makes a host at a switch. Its ports begin at HOST_FIRST_PORT, or at first_port if that is set
 * before anything listens. Returns NULL if there is no memory. */
struct host *world_host(struct world *world, uint32_t at, uint64_t access_bps, simtime delay_ns);
/* Returns a new port of the host, at which `receive` listens from now on; 0 if there is no memory,
 * or no port is left. */
uint16_t host_listen(struct host *host,
                     void (*receive)(void *argument, const struct frame *frame, simtime now),
                     void *argument);
/* Stops listening at the port, which is not given out again. */
void host_hang_up(struct host *host, uint16_t port);
void host_send_segment(struct host *host, const struct segment *segment);
void host_send_datagram(struct host *host, const struct datagram *datagram);

/* Executes all events up to and at that instant. Returns 0, or -ENOMEM or -ENOSPC
 * (world->error). */
int world_run(struct world *world, simtime until_ns);
/* Ends the run: hosts send nothing more, and what is in flight arrives or is dropped, for `most_ns`
 * at most. Returns what world_run returns. */
int world_drain(struct world *world, simtime most_ns);

#endif
