/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line as one would type it: words that a shell would take apart are quoted.
 *
 * Thread: any.
 */
#ifndef WEIR_COMMAND_LINE_H
#define WEIR_COMMAND_LINE_H

/* Returns `weir COMMAND` and the words behind argv[0], to be freed; NULL if there is no memory,
 * which is noted. Options of `without`, ended by NULL, are left out with their values. */
char *command_line_text(const char *command, int argc, char *const *argv,
                        const char *const *without);

#endif
