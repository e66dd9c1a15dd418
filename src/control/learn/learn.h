/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir learn`. Pairing of packets is done here; the estimation is the package
 * weir.learn of Python (python/src/weir/learn), which calls `weir learn --pairs` for it.
 */
#ifndef WEIR_LEARN_H
#define WEIR_LEARN_H

#include <stdint.h>

#include "scenario/problem.h"

/* What the command line says about pairing. */
struct pairs_plan {
	const char *captures[2]; /* sent and received */
	const char *table;       /* the file for the rows */
	uint64_t room;           /* 0: the usual one */
};

/* Pairs two captures, writes the rows (struct pair_row) into a file, and prints one JSON object
 * about them. Returns 0; -EINVAL with problem if a capture cannot be read; -EIO with problem if the
 * table cannot be written; or -ENOMEM. */
int learn_pairs(const struct pairs_plan *plan, struct problem *problem);

#endif
