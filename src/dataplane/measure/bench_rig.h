/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rig of a measurement: weir as `weir run` builds it (runtime.h: the same ports, engine,
 * transmit queues and worker_main), between ports that cost as little as a port can, with a clock
 * that can be stopped.
 *
 * Why the clock stops: a measurement is compared with the ceiling and with the machine's noise on
 * the same core, in turns with them. While another has its turn the workers stand still; if time
 * went on, everything on the way would be overdue when they come back. So the run's clock is set
 * back by the length of the pause, and the packets on the way notice nothing.
 *
 * Thread: control (the main lcore). Between bench_rig_go and bench_rig_stop the workers run.
 */
#ifndef WEIR_BENCH_RIG_H
#define WEIR_BENCH_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "live/runtime.h"
#include "measure/bench_noise.h"
#include "measure/bench_sink.h"
#include "measure/bench_source.h"

enum bench_ports {
	BENCH_NET_NULL, /* always has a burst, takes everything */
	BENCH_NET_RING, /* what is sent to it is received from it; topped up to a burst */
	BENCH_SILENT,   /* net_null without packets of its own: a paced source makes them */
	BENCH_GIVEN,    /* the devices that the scenario names */
};

/* How all measurements of a run are made. */
struct bench_conditions {
	enum runtime_layout layout;
	uint32_t runs;      /* 1 to BENCH_RUNS_MAX / 2 */
	double seconds;     /* of each run */
	int priority;       /* of the workers, SCHED_FIFO; 0: as the process is */
	uint64_t mbufs_max; /* that the EAL has memory for */
	uint64_t memory_max_bytes;
	/* With a flight (record/recording.h) that reaches back so far; 0: without. Of each frame so
	 * many bytes are kept; 0: all. */
	simtime flight_ns;
	uint32_t flight_snap;
	/* Told what is being measured, may be NULL. */
	void (*tell)(void *argument, const char *what);
	void *argument;
};

struct bench_setup {
	const struct scenario *scenario;
	enum bench_ports ports;
	uint32_t frame_bytes; /* without FCS; 0: IMIX */
	bool headers;         /* frames with headers (bench_source.h); 64 bytes at least */
	uint32_t addresses;   /* source addresses of the frames (bench_source.h); 0: no headers */
	double pps;           /* BENCH_SILENT: packets a second into each port that has a cloud */
	double most_pps; /* what the scenario may be offered at most, for its memory; 0: guess */
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
	struct bench_launch *launches; /* of each worker; made by open, so that go cannot fail */
	uint64_t stopped_tsc;
	bool going;
	clockid_t worker_clock; /* processor time of the first worker's thread */
};

/* What the workers have done so far, read at one instant. */
struct bench_count {
	uint64_t raw_ns;
	uint64_t worker_cpu_ns;  /* of the first worker */
	uint64_t packets, bytes; /* handed to devices */
	uint64_t lost;           /* drops that the scenario does not cause */
	uint64_t emulated;       /* drops that it did */
	uint64_t held_packets, memory_bytes;
	uint32_t mbufs_free;
	uint64_t recorded, unrecorded; /* packets that a flight has, and that it has not */
};

/* 0; -ENOMEM, -EINVAL, ... with problem. Stands still afterwards. */
int bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                   const struct bench_conditions *conditions, struct problem *problem);
/* Checks that every packet is accounted for: 0 or -EIO with problem. */
int bench_rig_close(struct bench_rig *rig, struct problem *problem);

/* The same, after bench_stopped(): -EINTR, whatever else. */
int bench_rig_interrupted(struct bench_rig *rig, struct problem *problem);

void bench_rig_go(struct bench_rig *rig);
void bench_rig_stop(struct bench_rig *rig);
void bench_rig_count(const struct bench_rig *rig, struct bench_count *count);
/* Real-time priority for the calling thread, and back; 0: nothing. */
void bench_priority_set(int priority);
void bench_priority_clear(int priority);
/* From here on SIGINT and SIGTERM end the measurement: pauses return at once, and the measuring
 * code checks bench_stopped() and returns -EINTR. */
void bench_stop_on_signals(void);
bool bench_stopped(void);
/* Sleeps. */
void bench_pause(double seconds);

/* The two below run on the first worker's core; the rig stands still. */

/* The same ports, receive and transmit with nothing between: packets a second. */
double bench_rig_ceiling(struct bench_rig *rig, double seconds);
void bench_rig_noise(struct bench_rig *rig, double seconds, double grid_ns,
                     struct bench_noise *noise);

/* The longest that a packet may be on the way in the scenario, ns. */
uint64_t bench_held_ns(const struct scenario *scenario);

#endif
