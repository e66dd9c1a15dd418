/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A point of an experiment: one case, values for parameters, a seed. It is run and measured.
 *
 * Ownership: the caller's.
 * Thread: control's, one, the EAL running.
 */
#ifndef WEIR_LAB_POINT_H
#define WEIR_LAB_POINT_H

#include "lab/lab_experiment.h"
#include "lab/results.h"

/* NAME=VALUE of the command line, or of a sweep: overrides what the experiment says. */
struct lab_override {
	const char *name, *value;
};

struct lab_point {
	const struct experiment *experiment;
	uint32_t of; /* case */
	const struct lab_override *overrides;
	uint32_t n_overrides;
	uint64_t seed;
	const char *trace; /* a file for the queues and windows over time; or NULL */
	const char *pcap;  /* a capture file of both directions at the first link's beginning; or
	                    * NULL */
};

/* Returns 0; or -errno with message, one line, which names the line of the experiment that caused
 * the error, if one did. */
int lab_point_run(const struct lab_point *point, struct results *results, char *message,
                  size_t room);
/* Builds everything and runs nothing. Returns the same errors. */
int lab_point_check(const struct lab_point *point, char *message, size_t room);
/* Returns the value of a parameter at this point; NULL if there is no such parameter. */
const char *lab_point_value(const struct lab_point *point, const char *parameter);

#endif
