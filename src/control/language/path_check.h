/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks where clouds begin and end: that every place exists, that chains come from a port, and
 * that every cloud can get packets. Warns of clouds that compete for packets.
 *
 * Thread: control.
 */
#ifndef WEIR_PATH_CHECK_H
#define WEIR_PATH_CHECK_H

#include <stdio.h>

#include "language/scenario_check.h"

/* Returns 0; -EINVAL with problem, and `place` gets the cloud and the word that it is about; or
 * -ENOMEM. */
int path_check(const struct scenario *scenario, struct scenario_place *place,
               struct problem *problem);

/* Prints a line `warning: ...` for each two clouds from one place that have the same priority and
 * match the same packets, up to PATH_WARNINGS_MAX. What a filter matches is unknown; then the
 * warning says so. */
#define PATH_WARNINGS_MAX 10
void path_warn(const struct scenario *scenario, FILE *out);

#endif
