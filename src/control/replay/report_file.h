/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a run as a file: all figures of its clouds and ports, in JSON (docs/replay.md), or
 * a line each if the name of the file ends in `.csv`.
 *
 *   {"seed":..,"duration_ns":..,"clouds":[..],"ports":[..]}
 *
 * A seed above 2^63 - 1 is a string. If captures were split, also
 * "splits":[{"capture":..,"rule":..,"ports":[..],"packets":[..]}].
 *
 * Thread: control.
 */
#ifndef WEIR_REPORT_FILE_H
#define WEIR_REPORT_FILE_H

#include "capture/atomic_file.h"
#include "offline/replay.h"

/* Writes the report and finishes the file, which the caller publishes. Returns 0 or -errno. */
int report_file_write(struct atomic_file *file, const struct scenario *scenario,
                      const struct replay_result *result, struct problem *problem);

#endif
