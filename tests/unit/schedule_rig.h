/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One cloud with several statements, written as in a scenario, and packets at given instants: when
 * each of them leaves. Every case is played in bursts of 1, 7 and 32, at a cloud that is alone and
 * at one that shares its port, looked at often and not at all: all must give the same.
 */
#ifndef WEIR_SCHEDULE_RIG_H
#define WEIR_SCHEDULE_RIG_H

#include "trial.h"

#define MS SIMTIME_MS

struct arrival {
	simtime t;      /* after the beginning of the run */
	uint32_t bytes; /* 0: no more */
};

/* The statements of the cloud, between semicolons, put into the rig's cloud "x". */
void schedule_set(struct rig *rig, const char *words);
/* When each packet leaves, after the beginning; SIMTIME_NEVER: it is lost. `due` has room for n. */
void schedule_play_once(const char *words, const struct arrival *arrivals, uint32_t n,
                        simtime *due); /* one way only: for statistics */
void schedule_play(const char *words, const struct arrival *arrivals, uint32_t n, simtime *due);

#endif
