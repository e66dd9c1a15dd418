/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios as text: the scenario file and `show config`.
 *
 * Text that was printed loads as an equal scenario, which prints the same bytes.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_FILE_H
#define WEIR_SCENARIO_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "scenario/scenario.h"

#define SCENARIO_FILE_BYTES_MAX (64u << 20)
/* enough room for `message`, unless the path is long */
#define SCENARIO_FILE_ERROR 1024

/* Reads, executes and checks (scenario_check) a file. Returns 0, and the caller owns the scenario;
 * or -errno without a scenario, and `message` is one line `file:line:column: what is wrong, and
 * what would be right`, without a line end, and without line and column if the file cannot be
 * read. */
int scenario_file_load(const char *path, struct scenario **scenario, char *message, size_t room);
/* Does the same, and writes remarks on the lines of netem to `remarks`, a line each. */
int scenario_file_load_remarked(const char *path, FILE *remarks, struct scenario **scenario,
                                char *message, size_t room);
/* Does the same; the files that the scenario names lie beside the file `beside` instead. */
int scenario_file_load_beside(const char *path, const char *beside, struct scenario **scenario,
                              char *message, size_t room);
/* Does the same for a text of `bytes` in memory; `name` replaces the path in the message. */
int scenario_text_load(const char *text, size_t bytes, const char *name, struct scenario **scenario,
                       char *message, size_t room);

/* What is wrong in a text, and where. */
struct scenario_fault {
	uint32_t line, column; /* from 1; 0: there is no such place */
	char text[SCENARIO_FILE_ERROR];
};
/* Executes lines on a copy of `before`, and checks the result (scenario_check_at): ports and
 * seed remain. If `before` is NULL, on an empty scenario. Returns 0, and the caller owns the
 * scenario; or -EINVAL or -ENOMEM with fault. */
int scenario_text_edit(const char *text, size_t bytes, const struct scenario *before,
                       struct scenario **scenario, struct scenario_fault *fault);

/* Formats a problem that is found only when the loaded scenario is put to use, such as too little
 * memory: `message` becomes the line `file:line:column: problem`. It points at the last line that
 * gives the cloud the statement or, if `statement` is NULL, that makes the cloud. If the file
 * cannot be read again, there is no line and column. If `path` is NULL, there is no file. */
void scenario_file_complain(const char *path, const char *cloud, const struct conf *statement,
                            const char *problem, char *message, size_t room);
/* Does the same for a port: points at its device or, if there is none, at its name. */
void scenario_file_complain_port(const char *path, const char *port, const char *problem,
                                 char *message, size_t room);

/* Prints the scenario as `show config` does: the seed, the ports, the clouds, each with its
 * statements in the order of the table, with the fields that were given. */
void scenario_file_print(FILE *out, const struct scenario *scenario);
/* Prints the lines of one cloud. */
void scenario_file_print_cloud(FILE *out, const struct cloud_conf *cloud);
/* Returns a whole scenario as a string, to be freed; NULL if there is no memory. */
char *scenario_text(const struct scenario *scenario);

#endif
