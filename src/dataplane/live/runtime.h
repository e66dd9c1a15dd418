/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live emulator: ports opened, workers running, a scenario in force.
 *
 * Thread: control (the main thread) calls these, but where it says otherwise; none of them is
 * called by a worker.
 */
#ifndef WEIR_RUNTIME_H
#define WEIR_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/histogram.h"
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

struct runtime_options {
	enum runtime_layout layout;
	uint64_t memory_bytes;   /* where small packets are held, in all; 0: 256 MiB */
	uint32_t mbufs;          /* held packets that keep theirs; what ports need comes on top */
	const char *mempool_ops; /* other ones than DPDK's, for tests; or NULL */
	/* t_ns of the struct packet of what leaves says when it is due, for taps of a device. */
	bool told_departures;
	/* The processor is not weir's alone. A worker that has all ports to itself, all of them
	 * taps, sleeps until a packet comes or is due; other workers make room after an empty
	 * round. */
	bool rests;
	/* Told of every decision by the workers, as bursts have them (witness.h); or NULL. */
	struct witness *witness;
	/* Where frames of taps are put, as they come and go; or NULL. */
	struct frame_queue *frames;
	/* Where all is written down that the engines meet (record/recording.h); or NULL. */
	struct recording *recording;
};

struct runtime;

/* MiB that the EAL needs for it: mempool and rings. `workers`: lcores beside the main one. */
unsigned runtime_eal_mib(const struct scenario *scenario, const struct runtime_options *options,
                         uint32_t workers);

/* Opens the ports of the scenario and starts the workers on the lcores of the EAL (started before,
 * eal.h). 0, or -errno with problem: a device that does not exist or does not start, too few
 * cores for the layout, too little memory. */
int runtime_start(const struct scenario *scenario, const struct runtime_options *options,
                  struct runtime **runtime, struct problem *problem);
/* Stops the workers, and with them what is recorded: what may be read stands still. */
void runtime_halt(struct runtime *runtime);
/* Stops the workers, closes the ports, checks conservation and that the mempools are whole. 0, or
 * -EIO with `problem`, which names the difference. Frees. */
int runtime_stop(struct runtime *runtime, struct problem *problem);

/* ---- transactions: changes, clears and insertions while packets flow ----
 *
 * A transaction is made, posted, taken, finished. Making may fail and may take long; if it fails,
 * nothing has happened. Posting cannot fail: from then on the new scenario is that of the runtime,
 * and every worker takes its part before it receives again, even one that stood still for long. One
 * transaction is posted at a time, and finished when all have taken it, before the next is made.
 *
 * Thread: making and finishing any, one at a time; posting and asking control's. */
struct transaction;

/* Puts all of `next` in force, or nothing of it. Ports cannot change while running. Packets in
 * flight are kept. 0, or -errno with problem. */
int transaction_change(struct runtime *runtime, const struct scenario *next,
                       struct transaction **transaction, struct problem *problem);
/* What a recording says of it: the text of the scenario, which passes. NULL: no memory for it. */
void transaction_describe(struct transaction *transaction, char *text);
/* Counters to zero. 0 or -ENOMEM. */
int transaction_clear(struct runtime *runtime, struct transaction **transaction);
/* Packets of weir's own enter a cloud (engine_insert), by the worker that has it. 32,768 bytes of
 * them at most. 0, or -errno with problem. */
int transaction_insertion(struct runtime *runtime, const struct insertion *insertion,
                          struct transaction **transaction, struct problem *problem);
void transaction_post(struct transaction *transaction);
/* Whether every worker has taken it; waits for each up to so long. */
bool transaction_taken(const struct transaction *transaction, uint64_t wait_ns);
/* The first worker that has not, and its processor. False: all have. */
bool transaction_missing(const struct transaction *transaction, uint32_t *worker, uint32_t *cpu);
/* Frees it, and what it has replaced: taken by all, or never posted. NULL is allowed. */
void transaction_finish(struct transaction *transaction);

/* Taps (tap.h): looks at packets from outside. A tap that has begun is the runtime's, until
 * runtime_tap_end, after which nobody uses it; it is freed when all workers have let go. Its fates
 * are told `wall_ns` later than they happen, so that they count from 1970. 0, or -EBUSY: there are
 * as many as there may be. */
struct tap;
int runtime_tap_begin(struct runtime *runtime, struct tap *tap, int64_t wall_ns);
/* Whether every worker has it. */
bool runtime_tap_is_on(struct runtime *runtime, const struct tap *tap);
void runtime_tap_end(struct runtime *runtime, struct tap *tap);

enum runtime_event_kind {
	RUNTIME_REMARK,    /* of a port: what its line says */
	RUNTIME_LINK,      /* of a port: went up or down */
	RUNTIME_STALL,     /* a worker has not come round for a second */
	RUNTIME_STALL_END, /* it goes on */
};
struct runtime_event {
	enum runtime_event_kind kind;
	uint32_t index;   /* of the port, or of the worker */
	const char *line; /* the whole of it, for people */
	bool up;          /* RUNTIME_LINK */
	uint64_t for_ns;  /* of a stall: so far, or in all */
};
/* How important it is in the log (run_log.h). */
enum run_log_level runtime_event_level(const struct runtime_event *event);
typedef void runtime_tell(void *argument, const struct runtime_event *event);
/* Housekeeping, about every 100 ms: keeps the clock disciplined, watches for workers that stall and
 * links that go down or up. Passes each event to `tell`. */
void runtime_tick(struct runtime *runtime, runtime_tell *tell, void *argument);
/* Whether every worker has come round since the last time that it was so. Of workers that never
 * sleep (`rests`). */
bool runtime_came_round(struct runtime *runtime);

/* In force, or posted; until the next change. */
const struct scenario *runtime_scenario(const struct runtime *runtime);
/* NULL: it is not recorded. */
struct recording *runtime_recording(const struct runtime *runtime);

struct port_report {
	const char *name, *device, *driver;
	bool link_up;
	uint64_t link_bps;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t rx_missed;     /* lost by the device before weir saw them */
	uint64_t rx_no_mbuf;    /* lost because the mempool was empty */
	uint64_t no_cloud;      /* received, and dropped: no cloud of this port takes it */
	uint64_t untouched;     /* received, chosen by no cloud, and passed on as it was */
	uint64_t tx_full;       /* not taken by the device within 100 ms of their time, dropped */
	uint64_t not_sent;      /* taken by the device, and it says that it could not send them */
	uint64_t not_written;   /* taken by a file, and they could not be written (recorder.h) */
	uint64_t unfinished;    /* of those missed: what was left to do of them weir cannot do */
	uint64_t too_large;     /* of those not sent: larger than the interface takes */
	const char *time;       /* whose instants count at reception: `poll`, `device` */
	uint64_t stamped;       /* with `device`: packets with an instant of it */
	uint64_t unstamped;     /* without */
	uint64_t stamps_odd;    /* after the reading, before the one ahead, or too old: put right */
	uint64_t speed_bps;     /* of the wire, as the scenario says; 0: it does not */
	uint64_t launch_ns;     /* lead: the device gets the time to send so much ahead; 0: no */
	uint64_t launch_missed; /* handed over when that had passed */
	struct histogram lateness_ns; /* handed to the device, after the due time */
};
struct worker_report {
	uint32_t lcore, cpu;
	const char *role; /* `run-to-completion`, `rx`, `emulation`, `tx` */
	uint64_t polls, busy_polls;
	uint64_t longest_poll_ns; /* since the last clear */
	uint64_t stalls;          /* times it did not come round for a second */
	uint64_t held_packets, memory_used_bytes, memory_bytes;
};
uint32_t runtime_ports(const struct runtime *runtime);
bool runtime_port_report(const struct runtime *runtime, uint32_t port, struct port_report *report);
uint32_t runtime_workers(const struct runtime *runtime);
bool runtime_worker_report(const struct runtime *runtime, uint32_t worker,
                           struct worker_report *report);
/* As engine_report, with the lateness of the port it leads to. */
bool runtime_cloud_report(const struct runtime *runtime, const char *cloud,
                          struct cloud_report *report);
/* As engine_briefs, engine_brief_name and engine_delays. */
struct cloud_brief;
uint32_t runtime_briefs(const struct runtime *runtime, const char *cloud, uint32_t from, uint32_t n,
                        struct cloud_brief *briefs);
bool runtime_brief_name(const struct runtime *runtime, const char *cloud, uint32_t index,
                        char *name, size_t room);
bool runtime_delays(const struct runtime *runtime, const char *cloud, struct histogram *delays);
uint64_t runtime_now_ns(const struct runtime *runtime);

#endif
