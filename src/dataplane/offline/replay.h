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

#define REPLAY_NO_PORT   UINT32_MAX
#define REPLAY_FILES_MAX SCENARIO_PORTS_MAX
#define REPLAY_MEMORY    (UINT64_C(1) << 30)

struct replay_file {
	uint32_t port;    /* index in the scenario */
	uint32_t second;  /* in: where the frames come in that the split rule does not take for
	                   * `port`,  or REPLAY_NO_PORT; out: not looked at */
	const char *path; /* `-`: standard input or output */
};

struct replay_result;

struct replay_options {
	const struct replay_file *in, *out;
	uint32_t n_in, n_out;
	const char *split; /* `--split RULE` (split.h), for the captures that have a `second` */
	uint32_t burst;    /* packets handed to the engine at once, 1..BURST_MAX; 0: BURST_MAX */
	struct witness *witness; /* or NULL; forces bursts of one */
	/* All that happens up to and at `now` has been told to the witness. 0, or -errno with
	 * problem. May be NULL. */
	int (*stepped)(void *argument, simtime now, struct problem *problem);
	/* The most memory that packets in flight may take, small frames and large ones each; taken
	 * as needed. 0: REPLAY_MEMORY. A large frame that finds none ends the replay with -ENOMEM,
	 * a small one is dropped as `no-buffer`. */
	uint64_t memory_bytes;
	const char *mempool_ops;           /* tests; or NULL */
	const volatile sig_atomic_t *stop; /* becomes not 0: give up (-EINTR); or NULL */
	/* About ten times a second, or NULL: bytes read of bytes in all the captures. */
	void (*progress)(void *argument, uint64_t done_bytes, uint64_t all_bytes);
	/* Called when all is computed and every output is complete, but not yet under its name; or
	 * NULL. So other files can appear together with the captures or not at all. An error undoes
	 * the replay and is what replay_run returns. */
	int (*complete)(void *argument, const struct replay_result *result,
	                struct problem *problem);
	void *argument; /* of both */
};

struct replay_port_report {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t no_cloud;
	uint64_t untouched;  /* chosen by no cloud, and passed on as it was */
	uint64_t no_file;    /* left at a port without --out: counted, not written */
	uint64_t clock_back; /* packets whose time was before the one before: clamped to it */
	simtime clock_back_max_ns;
	uint64_t truncated;            /* packets of which the capture holds only the beginning */
	uint64_t busiest_second_bytes; /* most that left in one second, counted from the first */
	char damage[200];              /* what was wrong with the end of a capture, or "" */
};

/* What the split rule made of a capture of both directions. */
struct replay_split {
	const char *rule, *path; /* of the options */
	uint32_t ports[2];       /* indices in the scenario: of what matches, and of all others */
	uint64_t packets[2];     /* that came in there */
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

/* `result` is all zero before. 0; -EINVAL with problem when nothing was done and no output file
 * exists that was not there before (a capture that cannot be opened or is not Ethernet, an output
 * that is an input, an output that cannot be made); another -errno with problem when it broke on
 * the way (disk full, memory, interrupted, packets that do not add up): outputs are removed. A
 * capture that is cut or corrupt in the middle is processed up to there, and `damage` says so. */
int replay_run(const struct scenario *scenario, const struct replay_options *options,
               struct replay_result *result, struct problem *problem);
void replay_result_free(struct replay_result *result);

#endif
