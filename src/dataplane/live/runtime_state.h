/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the runtime, shared by runtime.c (start, stop), layout.c (the workers and their
 * roles), transaction.c (changes and taps), runtime_report.c (what may be read) and housekeeping.c
 * (the tick).
 *
 * Thread: control.
 */
#ifndef WEIR_RUNTIME_STATE_H
#define WEIR_RUNTIME_STATE_H

#include "live/runtime.h"
#include "live/tap.h"
#include "live/worker.h"
#include "machine/clock.h"
#include "port/port.h"

#define WORKERS_MAX RTE_MAX_LCORE
#define RINGS_MAX   1024

/* State of a worker that control keeps from tick to tick. */
struct watch {
	uint64_t polls, stalls;
	struct patience patience; /* since a completed poll was last seen */
	bool stalled;
	uint64_t vouched; /* polls, when runtime_came_round last returned true */
};

/* The taps, and the set of them that the workers have (transaction.c). */
struct runtime_taps {
	uint32_t n;
	struct tap *taps[TAPS_MAX];
	bool changed; /* another set has to be posted */
	struct tap_set *force, *posted;
	struct message messages[WORKERS_MAX];
	/* A beat: an instant, and the number of polls that each worker had completed then. */
	simtime beat_ns;
	uint64_t beat_polls[WORKERS_MAX];
};

struct runtime {
	struct scenario *scenario; /* in force */
	struct runtime_options options;
	struct rte_mempool *pool;
	uint32_t kept_mbufs; /* the most that drivers do not give back when they are closed */
	struct clock clock;
	struct port ports[SCENARIO_PORTS_MAX];
	uint32_t n_ports, n_open;
	struct worker *workers;
	uint32_t n_workers;
	void **memory;       /* of each worker's engine; or NULL */
	size_t memory_bytes; /* of each engine */
	/* from a port to a worker */
	uint32_t emulator[SCENARIO_PORTS_MAX]; /* has the clouds of the port */
	uint32_t sender[SCENARIO_PORTS_MAX];   /* sends to the port for workers that cannot */
	struct rte_ring *rings[RINGS_MAX];
	uint32_t n_rings;
	bool running;     /* the workers */
	bool halted;      /* for good */
	uint64_t changes; /* of the scenario, so far */

	struct watch watches[WORKERS_MAX];
	bool introduced; /* the remarks about offloads have been printed */
	struct port_losses cleared[SCENARIO_PORTS_MAX]; /* the losses at the last clear */
	bool changed_clouds, cleared_ever;
	struct transaction *posted; /* not yet taken by every worker, or not yet finished */
	struct runtime_taps taps;
};

/* runtime.c: returns how many of the pool's mbufs may hold large frames, in all engines together,
 * so that some are always left for devices, caches and frames that leave. */
uint32_t runtime_mbufs_to_hold(const struct runtime *runtime);
/* runtime.c: stops the workers, which may be started again (bench_rig.c). Ports and the recording
 * go on. */
void runtime_pause(struct runtime *runtime);

/* layout.c */
/* Computes the number of workers, and which worker owns which port. Returns 0, or -errno with
 * problem: -EINVAL if there are too few lcores, or -ENOMEM. */
int layout_plan(struct runtime *runtime, struct problem *problem);
/* Returns the memory for packets of each of `n_engines` engines. */
size_t layout_engine_bytes(const struct runtime_options *options, uint32_t n_engines);
/* Makes the engines, rings and transmit queues, and decides how workers sleep. The ports are open.
 * Returns 0, or -errno with problem. */
int layout_build(struct runtime *runtime, struct problem *problem);
/* Decides how long a worker may sleep; 0: it polls. `isolated`: its processor is; `woken`: each of
 * its ports wakes it. Pure. */
simtime layout_rest(const struct runtime_options *options, bool isolated, bool woken);
void layout_free(struct runtime *runtime);
/* Returns the largest number of workers that send to one port. */
uint16_t layout_senders(const struct runtime *runtime);
/* Sets owned[port] for the ports whose clouds belong to the engine of a worker. */
void layout_owned(const struct runtime *runtime, uint32_t worker, bool owned[SCENARIO_PORTS_MAX]);

/* transaction.c: puts the scenario in force before the workers run. Returns 0, or -errno with
 * problem. */
int transaction_first(struct runtime *runtime, struct problem *problem);

/* Does the same, and tells the processes that tap up to which instant all workers have come. */
void runtime_taps_beat(struct runtime *runtime);
/* Frees all taps. Workers have stopped, and engines are freed. */
void runtime_taps_free(struct runtime *runtime);

#endif
