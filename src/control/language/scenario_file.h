/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios as text: the scenario file and `show config`.
 *
 * What is printed loads again to an equal scenario, and that prints the same bytes.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_FILE_H
#define WEIR_SCENARIO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "scenario/scenario.h"

#define SCENARIO_FILE_BYTES_MAX (64u << 20)
/* room that is enough for `message`, unless the path is long */
#define SCENARIO_FILE_ERROR 1024

/* Reads, executes and checks (scenario_check) a file. 0 and the scenario is the caller's; or
 * -errno, no scenario, and `message` is one line `file:line:column: what is wrong, and what would
 * be right` (without a line end; without line and column when the file cannot be read). */
int scenario_file_load(const char *path, struct scenario **scenario, char *message, size_t room);
/* As above; what is to be said of its lines of netem's is written to `remarks`, a line each. */
int scenario_file_load_remarked(const char *path, FILE *remarks, struct scenario **scenario,
                                char *message, size_t room);
/* As the first; the files that it names lie beside another one. */
int scenario_file_load_beside(const char *path, const char *beside, struct scenario **scenario,
                              char *message, size_t room);
/* As the first, for text in memory, `bytes` long; `name` takes the place of the path in the
 * message. */
int scenario_text_load(const char *text, size_t bytes, const char *name, struct scenario **scenario,
                       char *message, size_t room);

/* What turned out only when the scenario that was loaded from the file was to be used, say that the
 * machine has not the memory: `message` becomes the line `file:line:column: problem`. It points at
 * the last line that gives the cloud the statement, or without one (NULL) makes it; without line
 * and column when the file cannot be read again. */
void scenario_file_complain(const char *path, const char *cloud, const struct conf *statement,
                            const char *problem, char *message, size_t room);
/* The same of a port: it points at its device, or without one at its name. */
void scenario_file_complain_port(const char *path, const char *port, const char *problem,
                                 char *message, size_t room);

/* `show config`: seed, ports, clouds each with its statements in the order of the table, and of
 * them what was given. */
void scenario_file_print(FILE *out, const struct scenario *scenario);
/* The same as a string, to be freed; NULL: no memory. */
char *scenario_text(const struct scenario *scenario);

#endif
