/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live emulator: ports opened, workers running, a scenario in force.
 *
 * Thread: control (the main thread), unless a function says otherwise. No worker calls any of them.
 */
#ifndef WEIR_RUNTIME_H
#define WEIR_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/histogram.h"
#include "machine/priority.h"
#include "machine/run_log.h"
#include "scenario/scenario.h"

struct cloud_report;
struct frame_queue;
struct insertion;
struct recording;

enum runtime_layout {
	LAYOUT_RUN_TO_COMPLETION, /* each worker: rx, emulation, tx of the clouds from its ports */
	LAYOUT_PIPELINE,          /* rx cores -> emulation cores -> tx cores, over rings */
};

/* What workers of run-to-completion do when they have nothing to do. Those of a pipeline poll. */
enum runtime_rest {
	REST_NEVER, /* poll */
	/* Sleep until a packet arrives or is due, if their ports wake them (port_wakes). The others
	 * poll, and yield after an idle poll. */
	REST_WOKEN,
	/* The same for workers whose processor is not isolated; the others poll. */
	REST_SHARED,
	/* Sleep for `sleep_ns` at most, whatever their ports are. */
	REST_TIMED,
};

struct runtime_options {
	enum runtime_layout layout;
	uint64_t memory_bytes;   /* for small held packets, in all; 0: 256 MiB */
	uint32_t mbufs;          /* for held packets that stay in their mbufs, beside those of the
	                          * ports */
	const char *mempool_ops; /* mempool driver in place of DPDK's default, for tests; or NULL */
	/* t_ns in the struct packet of a departing packet is its due time, for callbacks of a
	 * device. */
	bool told_departures;
	enum runtime_rest rest;
	simtime sleep_ns; /* REST_TIMED */
	/* of the workers */
	struct priority priority;
	/* Witness to which the workers pass every decision; or NULL. Packets arrive in bursts, so
	 * witness.h does not fix the order of the decisions. */
	struct witness *witness;
	/* Destination for copies of the frames that taps receive and send; or NULL. */
	struct frame_queue *frames;
	/* Recording of all that the engines meet (record/recording.h); or NULL. */
	struct recording *recording;
};

struct runtime;

/* Returns the MiB that the EAL needs for the mempool and the rings. `workers` is the number of
 * lcores beside the main one. */
unsigned runtime_eal_mib(const struct scenario *scenario, const struct runtime_options *options,
                         uint32_t workers);

/* Begins to make the memory that runtime_start will take, while the EAL starts (memory_ahead). Does
 * nothing with several workers, or if the EAL has it. memory_ahead_end() follows runtime_start, or
 * what fails before it. */
void runtime_memory_ahead(const struct scenario *scenario, const struct runtime_options *options,
                          uint32_t workers);
/* Opens the ports of the scenario and starts the workers on the lcores of the EAL, which has been
 * started before (eal.h). Returns 0, or -errno with problem: a device that does not exist or does
 * not start, too few cores for the layout, too little memory. */
int runtime_start(const struct scenario *scenario, const struct runtime_options *options,
                  struct runtime **runtime, struct problem *problem);
/* Stops the workers, and with them the recording. What may be read does not change after that. */
void runtime_halt(struct runtime *runtime);
/* Stops the workers, closes the ports, and frees the runtime. Checks conservation, and that no mbuf
 * is missing in the mempools. Returns 0, or -errno with `problem`: -EIO if there is a difference,
 * which `problem` names. */
int runtime_stop(struct runtime *runtime, struct problem *problem);

/* ---- transactions: changes, clears and insertions while packets flow ----
 *
 * A transaction is made, posted, taken, finished. Making it may take long and may fail; if it
 * fails, nothing has happened. Posting cannot fail: from then on the new scenario is that of the
 * runtime, and every worker takes its part at the end of one of its next polls, even a worker that
 * stood still for long. One transaction is posted at a time. When all workers have taken it, it is
 * finished, and only then the next one is made.
 *
 * Thread: make and finish: any, one at a time. Post and query: control. */
struct transaction;

/* Makes a transaction that puts all of `next` in force, or nothing of it. Ports cannot change while
 * workers run. Packets in flight are kept. Returns 0, or -errno with problem. */
int transaction_change(struct runtime *runtime, const struct scenario *next,
                       struct transaction **transaction, struct problem *problem);
/* Sets what a recording stores of the transaction: the text of the scenario, or NULL if there is no
 * memory for it. Ownership: takes the text. */
void transaction_describe(struct transaction *transaction, char *text);
/* Makes a transaction that sets the counters to zero. Returns 0 or -ENOMEM. */
int transaction_clear(struct runtime *runtime, struct transaction **transaction);
/* Makes a transaction that inserts packets of weir's own into a cloud (engine_insert), by the
 * worker that has the cloud: 32,768 bytes at most. Returns 0, or -errno with problem. */
int transaction_insertion(struct runtime *runtime, const struct insertion *insertion,
                          struct transaction **transaction, struct problem *problem);
void transaction_post(struct transaction *transaction);
/* Returns true if every worker has taken the transaction. Waits for each worker, `wait_ns` at
 * most. */
bool transaction_taken(const struct transaction *transaction, uint64_t wait_ns);
/* Finds the first worker that has not taken the transaction, and its processor. Returns false if
 * all have taken it. */
bool transaction_missing(const struct transaction *transaction, uint32_t *worker, uint32_t *cpu);
/* Frees the transaction, and what it has replaced. All workers have taken it, or it was never
 * posted. NULL is allowed. */
void transaction_finish(struct transaction *transaction);

/* Taps (tap.h) let other processes look at packets. A tap that has begun belongs to the runtime.
 * After runtime_tap_end the caller must not use it any more; the tap is freed when all workers have
 * let go of it. `wall_ns` is added to the instants of its fates, so that they count from 1970.
 * Returns 0, or -EBUSY if TAPS_MAX taps exist. */
struct tap;
int runtime_tap_begin(struct runtime *runtime, struct tap *tap, int64_t wall_ns);
/* Returns true if every worker has the tap. */
bool runtime_tap_is_on(struct runtime *runtime, const struct tap *tap);
void runtime_tap_end(struct runtime *runtime, struct tap *tap);

enum runtime_event_kind {
	RUNTIME_REMARK,   /* of a port: see its line */
	RUNTIME_OBSTACLE, /* of a port: packets do not pass it, or pass beside weir: see its line */
	RUNTIME_LINK,     /* of a port: its link went up or down */
	RUNTIME_INTERFACE, /* of a port: its interface is gone, or back */
	RUNTIME_STALL,     /* a worker has completed no poll for a second */
	RUNTIME_STALL_END, /* the worker polls again */
};
struct runtime_event {
	enum runtime_event_kind kind;
	uint32_t index;   /* of the port or the worker */
	const char *line; /* the whole event, for people */
	bool up;          /* RUNTIME_LINK, RUNTIME_INTERFACE */
	uint64_t for_ns;  /* duration of a stall, so far or in all; of an absence that has ended */
};
/* Returns the level of the event in the log (run_log.h). */
enum run_log_level runtime_event_level(const struct runtime_event *event);
typedef void runtime_tell(void *argument, const struct runtime_event *event);
/* Does the housekeeping, about every 100 ms: disciplines the clock, and watches for workers that
 * stall, and for links and interfaces that go and come. Passes each event to `tell`. */
void runtime_tick(struct runtime *runtime, runtime_tell *tell, void *argument);
/* Returns true if every worker has completed a poll since the call that last returned true. For
 * workers that no tap wakes (see `rests`). */
bool runtime_came_round(struct runtime *runtime);

/* Returns the scenario that is in force or posted. It is valid until the next change. */
const struct scenario *runtime_scenario(const struct runtime *runtime);
/* Returns NULL if the run is not recorded. */
struct recording *runtime_recording(const struct runtime *runtime);

struct port_report {
	const char *name, *device, *driver;
	bool link_up;
	bool gone;          /* its interface is not there */
	uint64_t absences;  /* times it was gone, since the start */
	uint64_t absent_ns; /* in all */
	uint64_t link_bps;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t rx_missed;   /* lost by the device before weir saw them */
	uint64_t rx_no_mbuf;  /* lost because the mempool was empty */
	uint64_t no_cloud;    /* received, and dropped: chosen by no cloud of this port */
	uint64_t untouched;   /* received, chosen by no cloud, and passed on unchanged */
	uint64_t tx_full;     /* dropped: not taken by the device within 100 ms of the due time */
	uint64_t not_sent;    /* taken by the device, which says that it could not send them */
	uint64_t not_written; /* taken by a file, and could not be written (dump.h) */
	uint64_t unfinished;  /* of rx_missed: weir cannot finish what offloads left undone */
	uint64_t too_large;   /* of not_sent: larger than the interface takes */
	uint64_t not_ip;      /* of not_sent: no IP packets, on an interface for nothing else */
	uint64_t chained;     /* of not_sent: longer than the one mbuf that the driver sends */
	uint64_t early;       /* no loss of a running weir: came before it started */
	const char *time;     /* source of the instants of reception: `poll`, `kernel`, `device` */
	uint64_t stamped;     /* with `kernel` and `device`: packets that it stamped */
	uint64_t unstamped;   /* packets that it did not stamp */
	uint64_t aged;        /* with `kernel`: came before the instant of their engine */
	uint64_t oldest_ns;   /* the largest difference of these */
	uint64_t stamps_odd;  /* after the reading, before the last one, or too old: corrected */
	uint64_t speed_bps;   /* of the wire, from the scenario; 0: not given */
	uint64_t launch_ns;   /* lead of a device that sends at a given time; 0: none */
	uint64_t launch_missed;       /* packets whose time to send had passed at hand-over */
	struct histogram lateness_ns; /* hand-over to the device, after the due time */
};
struct worker_report {
	uint32_t lcore, cpu;
	const char *role; /* `run-to-completion`, `rx`, `emulation`, `tx` */
	bool sleeps;      /* when it has nothing to do */
	const char *deaf; /* the port that alone keeps it from sleeping; or NULL */
	struct priority priority;
	uint64_t polls, busy_polls;
	uint64_t longest_poll_ns; /* since the last clear */
	uint64_t stalls;          /* times it completed no poll for a second */
	uint32_t in_hand;         /* packets received, and in no cloud yet */
	uint64_t held_packets, memory_used_bytes, memory_bytes;
};
uint32_t runtime_ports(const struct runtime *runtime);
bool runtime_port_report(const struct runtime *runtime, uint32_t port, struct port_report *report);
/* Sets how many packets were lost so far behind a port that is a tap: before they came to it, and
 * after it has sent them. The port's report adds them to its own. */
void runtime_lost_beyond(struct runtime *runtime, uint32_t port, uint64_t missed,
                         uint64_t not_sent);
uint32_t runtime_workers(const struct runtime *runtime);
bool runtime_worker_report(const struct runtime *runtime, uint32_t worker,
                           struct worker_report *report);
/* Like engine_report, and adds the lateness of the port to which the cloud leads. */
bool runtime_cloud_report(const struct runtime *runtime, const char *cloud,
                          struct cloud_report *report);
/* Like engine_briefs, engine_brief_name and engine_delays. */
struct cloud_brief;
uint32_t runtime_briefs(const struct runtime *runtime, const char *cloud, uint32_t from, uint32_t n,
                        struct cloud_brief *briefs);
bool runtime_brief_name(const struct runtime *runtime, const char *cloud, uint32_t index,
                        char *name, size_t room);
bool runtime_delays(const struct runtime *runtime, const char *cloud, struct histogram *delays);
/* Returns the instant before which no worker will report an arrival or a departure any more. A
 * millisecond is allowed for arrivals that the kernel is about to hand over. */
simtime runtime_done_ns(const struct runtime *runtime);
uint64_t runtime_now_ns(const struct runtime *runtime);

/*
 * Measures how long something has been waited for. Between two looks at most PATIENCE_STEP_NS
 * count, so a time in which the whole machine, or this process, stood still does not count. The
 * waiting code looks at least every PATIENCE_STEP_NS.
 *
 * Thread: its owner's.
 */
struct patience {
	uint64_t last_ns, waited_ns;
};
#define PATIENCE_STEP_NS (100 * SIMTIME_MS) /* the most that counts between two looks */

static inline uint64_t patience_look(struct patience *patience, uint64_t now_ns)
{
	uint64_t step = now_ns > patience->last_ns ? now_ns - patience->last_ns : 0;

	patience->last_ns = now_ns;
	patience->waited_ns += step < PATIENCE_STEP_NS ? step : PATIENCE_STEP_NS;
	return patience->waited_ns;
}

#endif
