/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording, run again in virtual time: an engine for each worker of the run, which meets what
 * that worker's engine met, in the same order. What leaves, and what is counted, is compared as it
 * goes; the first difference ends it.
 *
 * What weir itself lost it loses here, too: what no device took, and what found no memory.
 *
 * What cannot be known is said and not guessed: behind a gap the state of that worker's engine is
 * not the recorded one any more. Its packets end there, and those of other workers go on.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_RERUN_H
#define WEIR_RERUN_H

#include "offline/replay.h"

#define RERUN_WORKERS_MAX 128

struct rerun_options {
	const char *path; /* ingress.pcapng */
	uint32_t workers;
	uint32_t emulator[SCENARIO_PORTS_MAX]; /* which of them has the clouds of a port */
	uint32_t snap;
	/* The scenario that a change has made, for a worker, which is there until that worker's
	 * next; NULL with problem: it is not known. */
	const struct scenario *(*change)(void *argument, uint32_t worker, uint64_t number,
	                                 struct problem *problem);
	/* Of a flight that is run otherwise: the other scenario, which comes into force when the
	 * worker's snapshot has been read; likewise. */
	const struct scenario *(*begun)(void *argument, uint32_t worker, struct problem *problem);
	/* Another scenario, or other changes: nothing is compared. */
	bool otherwise;
	bool flight; /* it begins with snapshots, and has sums of what left */
	/* Real losses are left out: what no device took leaves, and what found no memory finds
	 * some. */
	bool ideal;
	simtime until_ns; /* SIMTIME_NEVER: to the end */
	/* Outputs, the witness, memory, and who is told; `in` and `split` are not looked at. */
	const struct replay_options *replay;
	void *argument; /* of change and begun */
};

struct rerun_worker {
	bool took_part, ended; /* some of its entries are there; its last word, too */
	/* What it did is known up to then, and why not further; "": to its end. */
	simtime known_ns;
	char unknown[160];
	uint64_t packets, changes;
	simtime from_ns; /* of a flight: when its snapshot was taken */
};

struct rerun_result {
	struct replay_result replay; /* replay_result_free */
	struct rerun_worker workers[RERUN_WORKERS_MAX];
	uint64_t packets;              /* that came in */
	uint64_t departures, compared; /* packets that left; whose digests agree */
	uint64_t checks;               /* of counters, that agree */
	uint64_t swapped;              /* of those compared, left in another order at one instant */
	uint64_t unsent;               /* real losses: no device took them */
	uint64_t unheld;               /* real losses: there was no memory */
	char damage[200];              /* what is wrong with the end of the file, or "" */
	bool differs;                  /* then `difference` says where and how */
	char difference[300];
};

/* `scenario`: that of the beginning. `result` is all zero before. 0, also when it differs; -EINVAL
 * with problem: nothing was done; another -errno with problem, as replay_run. When it differs,
 * outputs are removed. */
int rerun_run(const struct scenario *scenario, const struct rerun_options *options,
              struct rerun_result *result, struct problem *problem);

/* The same in steps, so that two of them can go side by side: rerun_open, rerun_next until it is
 * not 1, rerun_finish, rerun_close. What is given to rerun_open must outlive it. */
struct rerun;

/* 0, or -errno with problem; then there is none. */
int rerun_open(const struct scenario *scenario, const struct rerun_options *options,
               struct rerun_result *result, struct problem *problem, struct rerun **rerun);
/* Up to the next entry, and with it. 1; 0: that was the end, or it differs; -errno with problem. */
int rerun_next(struct rerun *rerun);
/* Outputs and the report are complete: 0, or -errno with problem. Nothing when it differs. */
int rerun_finish(struct rerun *rerun);
void rerun_close(struct rerun *rerun); /* NULL is allowed */

#endif
