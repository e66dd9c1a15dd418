/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario applied to captures, in virtual time: no clock, no root, no hugepages.
 *
 * Streaming: memory is bounded by what the scenario holds, whatever the size of the captures.
 * Thread: the caller's, one.
 */
#ifndef WEIR_REPLAY_H
#define WEIR_REPLAY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "account/witness.h"
#include "scenario/scenario.h"

struct cloud_report;
struct histogram;

#define REPLAY_NO_PORT    UINT32_MAX
#define REPLAY_FILES_MAX  SCENARIO_PORTS_MAX
#define REPLAY_MEMORY     (UINT64_C(1) << 30)
#define REPLAY_TEXT_BYTES 800

struct replay_file {
	uint32_t port;    /* index in the scenario */
	uint32_t second;  /* in: port of the frames that do not match the split rule, or
	                   * REPLAY_NO_PORT; out: not used */
	const char *path; /* `-`: standard input or output */
};

struct replay_result;

struct replay_options {
	const struct replay_file *in, *out;
	uint32_t n_in, n_out;
	const char *link_type;   /* `--link-type TYPE`: other packets are left out; or NULL */
	const char *split;       /* `--split RULE` (intake.h), for captures with a `second` */
	uint32_t burst;          /* packets per call of the engine, 1..BURST_MAX; 0: BURST_MAX */
	struct witness *witness; /* or NULL; forces bursts of one packet */
	/* Called when the witness has been told all that happens up to and at `now`. Returns 0, or
	 * -errno with problem. May be NULL. */
	int (*stepped)(void *argument, simtime now, struct problem *problem);
	/* The most memory for packets in flight, small frames and large ones each; allocated as
	 * needed. 0: REPLAY_MEMORY. A large frame that finds none ends the replay with -ENOMEM, a
	 * small one is dropped as `no-buffer`. */
	uint64_t memory_bytes;
	const char *mempool_ops;           /* for tests; or NULL */
	const volatile sig_atomic_t *stop; /* if it becomes nonzero, the replay ends with -EINTR; or
	                                    * NULL */
	/* Called about ten times a second, with the bytes read so far and those of all captures; or
	 * NULL. */
	void (*progress)(void *argument, uint64_t done_bytes, uint64_t all_bytes);
	/* Called when everything is computed and every output is complete, but not yet under its
	 * name; or NULL. So other files can appear together with the captures or not at all. If it
	 * returns an error, the replay fails, and replay_run returns that error. */
	int (*complete)(void *argument, const struct replay_result *result,
	                struct problem *problem);
	void *argument; /* of all callbacks */
};

struct replay_port_report {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t first, last; /* numbers of these packets, from 1; of a recording only */
	uint64_t no_cloud;
	uint64_t untouched; /* chosen by no cloud, and passed on unchanged */
	uint64_t lost;      /* by weir itself, at or behind the port; only live */
	uint64_t no_file;   /* left at a port without --out: counted, but not written */
	/* Of the time stamps of captures (capture/frame_order.h): packets with a time before the
	 * one ahead of them in the file, and the greatest step; and what was done about it. */
	uint64_t clock_back;
	simtime clock_back_max_ns;
	uint64_t sorted, late, wrong_stamps, clock_set_back, no_time;
	uint64_t other_link;           /* packets of other link types, which were left out */
	uint64_t truncated;            /* packets of which the capture holds only the beginning */
	uint64_t busiest_second_bytes; /* most bytes that left in one second, counted from the
	                                * first */
	struct histogram *lateness_ns; /* of a live run; NULL: virtual time is never late. Owned */
	char damage[200];              /* what was wrong with the end of a capture, or "" */
	/* For people: about time stamps, and where the packets of other link types were; or "". */
	char stamps[REPLAY_TEXT_BYTES], other_links[200];
};

/* The second, counted from the first packet, in which the latest packet left a port, and the bytes
 * that left in it. */
struct busy_second {
	uint64_t second, bytes;
};
/* Counts the bytes of a packet that has left. */
static inline void replay_port_left(struct replay_port_report *report, struct busy_second *busy,
                                    simtime first_ns, simtime due_ns, uint32_t wire_bytes)
{
	const uint64_t second = (due_ns - first_ns) / SIMTIME_S;

	report->tx_bytes += wire_bytes;
	if (second != busy->second)
		*busy = (struct busy_second){.second = second};
	busy->bytes += wire_bytes;
	if (busy->bytes > report->busiest_second_bytes)
		report->busiest_second_bytes = busy->bytes;
}

/* How the split rule divided a capture of both directions. */
struct replay_split {
	const char *rule, *path; /* from the options */
	uint32_t ports[2];       /* indices in the scenario: of packets that match, and of all
	                          * others */
	uint64_t packets[2];     /* that came in at each */
};

struct replay_result {
	simtime first_ns, last_ns; /* instants of the first arrival and of the last departure */
	uint64_t memory_bytes;     /* the most that packets in flight have taken */
	struct replay_port_report ports[SCENARIO_PORTS_MAX];
	uint32_t n_splits;
	struct replay_split splits[REPLAY_FILES_MAX];
	uint32_t n_clouds;
	struct cloud_report *clouds; /* in the order of the scenario; replay_result_free */
};

/* Runs a replay. `result` is all zero before. Returns 0; -EINVAL with problem if nothing was done
 * and no output file has been created (a capture that cannot be opened or has a link type that weir
 * does not know, an output that is an input, an output that cannot be created); or another -errno
 * with problem if the replay failed on the way (disk full, memory, interrupted, packets that do not
 * add up); then outputs are removed. A capture that is truncated or corrupt is processed up to that
 * point, and `damage` says so. */
int replay_run(const struct scenario *scenario, const struct replay_options *options,
               struct replay_result *result, struct problem *problem);
void replay_result_free(struct replay_result *result);
/* Return how many packets came in at all ports, and how many were written. */
uint64_t replay_packets_read(const struct replay_result *result);
uint64_t replay_packets_written(const struct replay_result *result);

#endif
