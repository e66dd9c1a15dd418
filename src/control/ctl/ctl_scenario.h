/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `load FILE` and `save [FILE]` of weir ctl: load the scenario in force from a file, and save it
 * into one. The client opens the files, with the rights of its user.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_SCENARIO_H
#define WEIR_CTL_SCENARIO_H

#include <stdbool.h>

#include "ctl/ctl_link.h"

/* Replaces the running scenario by that of the file (`-`: standard input), all of it or nothing.
 * Returns 0, or -EINVAL or another -errno with messages on stderr, or with `json` an object on
 * stdout. */
int ctl_scenario_load(struct ctl_link *link, const char *path, bool json);
/* Saves the scenario in force as a file that `weir run -c` and `load` take; the file appears
 * complete or not at all. `path` NULL or `-`: standard output. Returns as ctl_scenario_load. */
int ctl_scenario_save(struct ctl_link *link, const char *path, bool json);

/* Returns true if the line is one of these commands. Then it has been executed, and *result is as
 * above. */
bool ctl_scenario_line(struct ctl_link *link, const char *line, int *result);

#endif
