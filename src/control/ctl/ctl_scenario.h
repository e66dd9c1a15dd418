/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `load FILE` and `save [FILE]` of weir ctl: the scenario in force from a file and into one. The
 * client opens the files, with the rights of its user.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_SCENARIO_H
#define WEIR_CTL_SCENARIO_H

#include <stdbool.h>

#include "ctl/ctl_link.h"

/* What runs becomes what the file (`-`: standard input) says, all of it or nothing. 0; -EINVAL and
 * other -errno: messages are on stderr, or with `json` an object on stdout. */
int ctl_scenario_load(struct ctl_link *link, const char *path, bool json);
/* What is in force, as a file that `weir run -c` and `load` take; it appears complete or not at
 * all. `path` NULL or `-`: standard output. 0 or -errno, likewise. */
int ctl_scenario_save(struct ctl_link *link, const char *path, bool json);

/* Whether a line of words is one of these commands: then it is done, and *result is as above. */
bool ctl_scenario_line(struct ctl_link *link, const char *line, int *result);

#endif
