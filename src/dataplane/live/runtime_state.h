/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the runtime, shared by runtime.c (start, stop), layout.c (the workers and their
 * roles), transaction.c (changes), runtime_report.c (what may be read) and housekeeping.c (the
 * tick).
 *
 * Thread: control.
 */
#ifndef WEIR_RUNTIME_STATE_H
#define WEIR_RUNTIME_STATE_H

#include "live/patience.h"
#include "live/runtime.h"
#include "live/tap.h"
#include "live/worker.h"
#include "machine/clock.h"
#include "port/port.h"

#define WORKERS_MAX RTE_MAX_LCORE
#define RINGS_MAX   1024

/* What control remembers of a worker from tick to tick. */
struct watch {
	uint64_t polls, stalls;
	struct patience patience; /* since it was seen to come round */
	bool stalled;
	uint64_t vouched; /* polls, when all were last seen to have come round */
};

/* Taps, and which of them the workers have (runtime_taps.c). */
struct runtime_taps {
	uint32_t n;
	struct tap *taps[TAPS_MAX];
	bool changed; /* another set is to be posted */
	struct tap_set *force, *posted;
	struct message messages[WORKERS_MAX];
	/* A beat: an instant, and how many polls each worker had finished then. */
	simtime beat_ns;
	uint64_t beat_polls[WORKERS_MAX];
};

struct runtime {
	struct scenario *scenario; /* in force */
	struct runtime_options options;
	struct rte_mempool *pool;
	uint32_t kept_mbufs; /* at most so many stay with drivers that forget them at their end */
	struct clock clock;
	struct port ports[SCENARIO_PORTS_MAX];
	uint32_t n_ports, n_open;
	struct worker *workers;
	uint32_t n_workers;
	void **memory;       /* of each worker's engine, or NULL */
	size_t memory_bytes; /* each */
	/* port -> worker */
	uint32_t emulator[SCENARIO_PORTS_MAX]; /* has the clouds from it */
	uint32_t sender[SCENARIO_PORTS_MAX];   /* sends to it for those that cannot */
	struct rte_ring *rings[RINGS_MAX];
	uint32_t n_rings;
	bool running;     /* the workers */
	bool halted;      /* for good */
	uint64_t changes; /* of the scenario, so far */

	struct watch watches[WORKERS_MAX];
	bool introduced; /* the remarks about offloads have been printed */
	struct port_losses cleared[SCENARIO_PORTS_MAX]; /* at the last clear */
	bool changed_clouds, cleared_ever;
	struct transaction *posted; /* that not every worker has taken, or that is not finished */
	struct runtime_taps taps;
};

/* runtime.c: how many of the pool's mbufs may hold large frames, in all engines together, so that
 * devices, caches and frames that leave always find some. */
uint32_t runtime_mbufs_to_hold(const struct runtime *runtime);
/* runtime.c: workers stand still, and may run on (bench_rig.c); what is recorded goes on, and so do
 * ports. */
void runtime_pause(struct runtime *runtime);

/* layout.c */
/* How many workers there will be, and which owns which port. 0, or -EINVAL with problem. */
int layout_plan(struct runtime *runtime, struct problem *problem);
/* Engines, rings, transmit queues, once ports are open. 0, or -errno with problem. */
int layout_build(struct runtime *runtime, struct problem *problem);
void layout_free(struct runtime *runtime);
/* The most workers that send to one port. */
uint16_t layout_senders(const struct runtime *runtime);
/* Which ports' clouds belong to a worker's engine. */
void layout_owned(const struct runtime *runtime, uint32_t worker, bool owned[SCENARIO_PORTS_MAX]);

/* transaction.c: puts the scenario in force before the workers run. */
int transaction_first(struct runtime *runtime, struct problem *problem);

/* runtime_taps.c: goes on with what is under way. */
void runtime_taps_step(struct runtime *runtime);
/* The same, and tells those who tap how far workers have come. */
void runtime_taps_beat(struct runtime *runtime);
/* Workers stand still, and engines are freed. */
void runtime_taps_free(struct runtime *runtime);

/* runtime_report.c: 0, or -EIO with problem that says what does not add up. Workers stand still. */
int runtime_check(const struct runtime *runtime, struct problem *problem);

#endif
