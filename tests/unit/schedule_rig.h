/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One cloud with several statements, written as in a scenario, and packets at given instants:
 * determines when each of them leaves. Every case is played in bursts of 1, 7 and 32, on a cloud
 * that is alone and on one that shares its port, advanced often and not at all: the results must be
 * equal.
 */
#ifndef WEIR_SCHEDULE_RIG_H
#define WEIR_SCHEDULE_RIG_H

#include "trial.h"

#define MS SIMTIME_MS

struct arrival {
	simtime t;      /* since the beginning of the run */
	uint32_t bytes; /* 0: ends the list */
};

/* Puts the statements, separated by semicolons, into the rig's cloud "x". */
void schedule_set(struct rig *rig, const char *words);
/* Computes when each packet leaves, since the beginning of the run; SIMTIME_NEVER: it is lost.
 * `due` has room for n. */
void schedule_play_once(const char *words, const struct arrival *arrivals, uint32_t n,
                        simtime *due); /* in one way only: for statistics */
void schedule_play(const char *words, const struct arrival *arrivals, uint32_t n, simtime *due);

#endif
