/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rig of a measurement: weir as `weir run` builds it (runtime.h: the same ports, engine,
 * transmit queues and worker_main), between ports that cost as little as a port can, with a clock
 * that can be stopped.
 *
 * The clock stops because a measurement alternates with the ceiling and with the machine's noise,
 * on the same core. During their turns the workers stand still; if time went on, everything on the
 * way would be overdue afterwards. So the run's clock is set back by the length of the pause, and
 * the pause does not affect the packets on the way.
 *
 * Thread: control (the main lcore). Between bench_rig_go and bench_rig_stop the workers run.
 */
#ifndef WEIR_BENCH_RIG_H
#define WEIR_BENCH_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "account/histogram.h"
#include "live/runtime.h"
#include "measure/bench_source.h"

/*
 * The machine's own noise: the delays of a loop that does nothing but read the time stamp counter.
 *
 * If two readings lie further apart than BENCH_GAP_NS, something other than the loop ran between
 * them: an interrupt, another process, another guest of the host. The sum of these gaps is what was
 * taken away.
 *
 * The loop also waits for the instants of an even grid, as an emulator waits for due times. How
 * long after each instant the loop notices it is the lateness below which no program on this core
 * can go.
 *
 * Thread: the one that is measured, which should be bound to its core.
 */

#define BENCH_GAP_NS 1000

struct bench_noise {
	uint64_t duration_ns;
	uint64_t taken_ns;   /* in gaps above BENCH_GAP_NS */
	uint64_t longest_ns; /* longest gap */
	uint64_t gaps;
	struct histogram lateness_ns; /* of the grid's instants */
};

/* Watches for `duration_ns`. `grid_ns` is the distance of the grid's instants, 0: no grid.
 * `tick_ns` is the length of a tick of the TSC. Adds to *noise, which is all zero at first. */
void bench_noise_watch(struct bench_noise *noise, double tick_ns, uint64_t duration_ns,
                       double grid_ns);

static inline double bench_noise_share(const struct bench_noise *noise)
{
	return noise->duration_ns ? (double)noise->taken_ns / (double)noise->duration_ns : 0;
}

enum bench_ports {
	BENCH_NET_NULL, /* always has a burst, takes everything */
	BENCH_NET_RING, /* received from it is what was sent to it, topped up to a burst */
	BENCH_SILENT,   /* net_null without packets of its own: a paced source makes them */
	BENCH_GIVEN,    /* the devices that the scenario names */
};

/* The conditions of all measurements of a run. */
struct bench_conditions {
	enum runtime_layout layout;
	uint32_t runs;      /* 1 to BENCH_RUNS_MAX / 2 */
	double seconds;     /* of each run */
	int priority;       /* of the workers, SCHED_FIFO; 0: as the process is */
	uint64_t mbufs_max; /* that the EAL has memory for */
	uint64_t memory_max_bytes;
	/* With a flight (record/recording.h) that reaches back this long; 0: without. So many bytes
	 * of each frame are kept; 0: all. */
	simtime flight_ns;
	uint32_t flight_snap;
};

struct bench_setup {
	const struct scenario *scenario;
	enum bench_ports ports;
	uint32_t frame_bytes; /* without FCS; 0: IMIX */
	bool headers;         /* frames with headers (bench_source.h); 64 bytes at least */
	uint32_t addresses;   /* source addresses of the frames (bench_source.h); 0: no headers */
	double pps;           /* BENCH_SILENT: packets a second into each port that has a cloud */
	double most_pps; /* the most that the scenario is offered, to size memory; 0: estimate */
};

struct bench_rig {
	struct runtime *runtime;
	const struct bench_conditions *conditions;
	struct scenario *scenario;
	struct recording *recording;       /* the flight; or NULL */
	double tick_ns;                    /* of the TSC */
	uint32_t peer[SCENARIO_PORTS_MAX]; /* where the ceiling sends what it receives here */
	struct bench_source *sources;
	uint32_t n_sources;
	struct bench_launch *launches; /* one a worker; allocated by open, so that go cannot fail */
	uint64_t stopped_tsc;
	bool going;
	clockid_t worker_clock; /* processor time of the first worker's thread */
};

/* What the workers have done so far, read at one instant. */
struct bench_count {
	uint64_t raw_ns;
	uint64_t worker_cpu_ns;  /* of the first worker */
	uint64_t packets, bytes; /* handed to devices */
	uint64_t lost;           /* drops that the scenario did not cause */
	uint64_t emulated;       /* drops that it caused */
	/* by the sources (bench_source.h) */
	uint64_t made, missed, missed_preempted, starved;
	uint64_t held_packets, memory_bytes;
	uint32_t mbufs_free;
	uint64_t recorded, unrecorded; /* packets that a flight has, and that it missed */
};

/* Opens a rig, which stands still afterwards. Returns 0; -ENOMEM, -EINVAL, ... with problem. */
int bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                   const struct bench_conditions *conditions, struct problem *problem);
/* Closes the rig, and checks that every packet is accounted for. Returns as runtime_stop. */
int bench_rig_close(struct bench_rig *rig, struct problem *problem);

/* Closes the rig after bench_stopped(). Always returns -EINTR, with problem. */
int bench_rig_interrupted(struct bench_rig *rig, struct problem *problem);

void bench_rig_go(struct bench_rig *rig);
void bench_rig_stop(struct bench_rig *rig);
void bench_rig_count(const struct bench_rig *rig, struct bench_count *count);
/* Set and clear real-time priority of the calling thread. If `priority` is 0, they do nothing. */
void bench_priority_set(int priority);
void bench_priority_clear(int priority);
/* From now on SIGINT and SIGTERM end the measurement: pauses return at once, and the measuring code
 * checks bench_stopped() and returns -EINTR. */
void bench_stop_on_signals(void);
bool bench_stopped(void);
/* Sleeps, unless stopped. */
void bench_pause(double seconds);

/* The two below run on the first worker's core; the rig stands still. */

void bench_rig_noise(struct bench_rig *rig, double seconds, double grid_ns,
                     struct bench_noise *noise);

/* Returns the longest time that a packet may be on the way in the scenario, in ns. */
uint64_t bench_held_ns(const struct scenario *scenario);

#endif
