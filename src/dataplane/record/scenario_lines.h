/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a scenario as lines of its text (`show config`): from line `from`, counted from 0,
 * `removed` lines are replaced by `lines`. So a change of one cloud of 65,536 takes one line. It is
 * exact for any change: a line, a batch, a whole file, a lease that ends.
 *
 *   {"change":3,"from":12,"removed":1,"lines":["cloud down delay 5ms"]}
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SCENARIO_LINES_H
#define WEIR_SCENARIO_LINES_H

#include <stdint.h>
#include <stdio.h>

/* Writes the line of changes.jsonl that turns `before` into `after`. */
void scenario_lines_write(FILE *out, uint64_t change, const char *before, const char *after);
/* Returns {"file":"drops.txt","at":"files/1"}, to be freed, or NULL if there is no memory. */
char *scenario_file_line(const char *name, const char *at);

#endif
