/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a recording again in virtual time, with an engine for each worker of the run. The engine
 * meets what that worker's engine met, in the same order. Departures and counters are compared
 * meanwhile; the first difference ends the repetition.
 *
 * Packets that no device took are lost here, too.
 *
 * What cannot be known is reported, not guessed: behind a gap, the state of that worker's engine
 * differs from the recorded one; and once memory was short, it depends on the machine. The
 * repetition of that worker ends there; the other workers go on.
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
	uint32_t emulator[SCENARIO_PORTS_MAX]; /* the worker that has the clouds of a port */
	uint32_t snap;
	/* Returns the scenario that a change has made, for a worker, valid until that worker's next
	 * change; or NULL with problem if it is not known. */
	const struct scenario *(*change)(void *argument, uint32_t worker, uint64_t number,
	                                 struct problem *problem);
	/* For a flight with another scenario: returns that scenario, which comes into force when
	 * the worker's snapshot has been read; or NULL with problem. */
	const struct scenario *(*begun)(void *argument, uint32_t worker, struct problem *problem);
	/* Another scenario, or other changes, so nothing is compared. */
	bool otherwise;
	bool flight; /* begins with snapshots, and has sums of departures */
	/* Without real losses: packets that no device took leave, and packets that found no memory
	 * find some. From then on nothing is compared. */
	bool ideal;
	simtime until_ns; /* SIMTIME_NEVER: to the end. May be lowered before rerun_next */
	/* Outputs, witness, memory and callbacks; `in` and `split` are not used. */
	const struct replay_options *replay;
	void *argument; /* of change and begun */
};

struct rerun_worker {
	bool took_part, ended; /* has entries in the recording; also an END */
	/* The instant up to which its behaviour is known, and why not further; "": to its end. */
	simtime known_ns;
	char unknown[160];
	uint64_t packets, changes;
	simtime from_ns;   /* of a flight: the instant of its snapshot */
	simtime lacked_ns; /* when memory was first short in the run; SIMTIME_NEVER: never */
};

struct rerun_result {
	struct replay_result replay; /* freed by replay_result_free */
	struct rerun_worker workers[RERUN_WORKERS_MAX];
	uint64_t packets;              /* that came in */
	uint64_t departures, compared; /* packets that left; with equal digests */
	uint64_t checks;               /* comparisons of counters or sums that agree */
	uint64_t swapped;              /* of `compared`: left in another order at one instant */
	uint64_t unsent;               /* real losses: packets that no device took */
	char damage[200];              /* what is wrong with the end of the file, or "" */
	bool differs;                  /* `difference` says where and how */
	char difference[300];
};

/* Runs a recording. `scenario` is that of the beginning; `result` is all zero before. Returns 0,
 * also if there is a difference; -EINVAL with problem if nothing was done; or another -errno with
 * problem, as replay_run. If there is a difference, outputs are removed. */
int rerun_run(const struct scenario *scenario, const struct rerun_options *options,
              struct rerun_result *result, struct problem *problem);

/* The same in steps, so that two runs can be executed side by side: rerun_open; rerun_next until it
 * does not return 1; rerun_finish; rerun_close. What is passed to rerun_open must outlive the
 * rerun. */
struct rerun;

/* Returns 0, or -errno with problem; then there is nothing to close. */
int rerun_open(const struct scenario *scenario, const struct rerun_options *options,
               struct rerun_result *result, struct problem *problem, struct rerun **rerun);
/* Advances to the next entry and executes it. Returns 1; 0 at the end, or if there is a difference;
 * or -errno with problem. */
int rerun_next(struct rerun *rerun);
/* Completes the outputs and the report, unless there is a difference. Returns 0, or -errno with
 * problem. */
int rerun_finish(struct rerun *rerun);
void rerun_close(struct rerun *rerun); /* NULL is allowed */

#endif
