/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world of one run: an engine with its clouds, the network of links between them, hosts, their
 * timers, and the loop that lets the earliest of all events happen next. Virtual time only: what
 * comes out is a function of what was built and of the seed.
 *
 * At one instant the engine's events come first, then the timers in the order in which they were
 * set. So a packet that comes to a link at the instant when another leaves it finds that one gone.
 * With `arrivals_first`, as in ns-2, a host's packet finds it still there, and the link takes the
 * next one after it: the timers of an instant come before the engine's events, and such a packet,
 * and no other, enters its cloud a nanosecond earlier. The link is busy until then, so that nothing
 * is sent earlier for it. From one cloud into the next it is always the engine's order.
 *
 * Ownership: the world owns engine, pool, hosts; the scenario passes to it. What listens and whose
 * timers are set must outlive it or be cleared. Thread: one.
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
	uint64_t strangers; /* arrived where no host listens, or had no way on */
};

struct world {
	const struct platform *platform;
	struct network network;
	struct heap heap;
	simtime now_ns;
	simtime advanced_ns; /* the engine */
	bool arrivals_first; /* set it before world_run */
	struct rte_mempool *pool;
	void *memory;
	struct scenario *scenario;
	struct engine *engine;
	uint64_t numbered[SCENARIO_PORTS_MAX];
	uint8_t mark_bit; /* of a quench */
	bool touched;     /* a packet went into a cloud: what comes next there may be another */
	int error;        /* the first: memory ran out on the way */
	struct world_counters counters;
	/* Of those that arrived, on a stack: the next frame is written into the one that is
	 * warmest. */
	struct rte_mbuf *spare[WORLD_SPARES];
	uint32_t n_spare;
	/* Sees each frame that a cloud takes in or gives out, at the port; or NULL. */
	void (*tap)(void *argument, uint32_t port, const struct rte_mbuf *mbuf, simtime now);
	void *tap_argument;
};

/* The network comes first, without hosts and routed; then this, with its scenario, whose ports are
 * those of network_print in their order. 0, or -errno with problem. */
int world_open(struct world *world, const struct platform *platform, const char *name,
               struct scenario *scenario, uint64_t seed, struct problem *problem);
void world_close(struct world *world);

/* A host at a switch; its ports begin at HOST_FIRST_PORT, or where first_port says before anybody
 * listens. NULL: no memory. */
struct host *world_host(struct world *world, uint32_t at, uint64_t access_bps, simtime delay_ns);
/* A port of the host at which `receive` listens, from now on; 0: no memory, or no port is left. */
uint16_t host_listen(struct host *host,
                     void (*receive)(void *argument, const struct frame *frame, simtime now),
                     void *argument);
/* Nobody listens there any more. The port is not given out again. */
void host_hang_up(struct host *host, uint16_t port);
void host_send_segment(struct host *host, const struct segment *segment);
void host_send_datagram(struct host *host, const struct datagram *datagram);

/* Lets everything happen up to and at that instant. 0, or -ENOMEM. */
int world_run(struct world *world, simtime until_ns);

#endif
