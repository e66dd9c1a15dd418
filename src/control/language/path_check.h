/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where clouds begin and end: whether every place is there, whether chains come from a port,
 * whether every cloud can get packets, and which clouds want the same ones.
 *
 * Thread: control.
 */
#ifndef WEIR_PATH_CHECK_H
#define WEIR_PATH_CHECK_H

#include <stdio.h>

#include "language/scenario_check.h"

/* 0; -EINVAL with problem, of the cloud and the word that `place` gets; -ENOMEM. */
int path_check(const struct scenario *scenario, struct scenario_place *place,
               struct problem *problem);

/* `warning: ...`, a line for each two clouds from one place that have the same priority and fit the
 * same packets, up to PATH_WARNINGS_MAX. What a filter fits cannot be known, and that is said. */
#define PATH_WARNINGS_MAX 10
void path_warn(const struct scenario *scenario, FILE *out);

#endif
