/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a replay as a table for people: configured beside achieved values, and every
 * deviation.
 *
 * Thread: control.
 */
#ifndef WEIR_REPLAY_REPORT_H
#define WEIR_REPLAY_REPORT_H

#include <stdio.h>

#include "capture/atomic_file.h"
#include "offline/replay.h"
#include "show/achieved.h"
#include "text/table.h"

/* Prints the seed, the files and the table of each cloud (of the first sixteen, if there are
 * more). */
void replay_table_print(FILE *out, const struct scenario *scenario,
                        const struct replay_result *result);
/* Prints the tables alone. */
void replay_table_print_clouds(FILE *out, const struct scenario *scenario,
                               const struct replay_result *result);
/* Prints a line on what weir itself has lost: that it was nothing, too. */
void replay_table_print_books(FILE *out, const struct scenario *scenario,
                              const struct replay_result *result);
/* Prints a line for each warning: damaged captures, time that ran backwards, packets that no cloud
 * took or that were written to no file, packets that weir itself lost. */
void replay_warnings_print(FILE *out, const struct scenario *scenario,
                           const struct replay_result *result);

/* Return the tables of a cloud, for the page of a picture, too: its statements, configured beside
 * achieved, and its times; NULL if it has none. For the units see struct achieved_run. */
struct table *replay_table_statements(const struct scenario *scenario,
                                      const struct replay_result *result, uint32_t cloud,
                                      enum human_unit time_unit, enum human_unit rate_unit);
struct table *replay_table_times(const struct scenario *scenario,
                                 const struct replay_result *result, uint32_t cloud,
                                 enum human_unit unit);

/*
 * The report of a run as a file: all figures of its clouds and ports, in JSON (docs/replay.md), or
 * a line each if the name of the file ends in `.csv`.
 *
 *   {"seed":..,"duration_ns":..,"clouds":[..],"ports":[..]}
 *
 * A seed above 2^63 - 1 is a string. If captures were split, also
 * "splits":[{"capture":..,"rule":..,"ports":[..],"packets":[..]}].
 */

/* Writes the report in JSON. Returns 0, or -EIO or -ENOMEM; a value that found no memory is missing
 * (text/alloc_failure.h). */
int report_json_write(FILE *out, const struct scenario *scenario,
                      const struct replay_result *result);
/* Writes the report and finishes the file, which the caller publishes. Returns 0 or -errno. */
int report_file_write(struct atomic_file *file, const struct scenario *scenario,
                      const struct replay_result *result, struct problem *problem);

#endif
