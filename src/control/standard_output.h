/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output as a result. A command that prints its result must report when the output did not
 * arrive, for example on a full disk; coreutils do the same. If the reader has gone, SIGPIPE ends
 * the process silently, unless it is ignored: then it is an error like any other.
 *
 * Thread: the main thread; one function at the start, the other at the end.
 */
#ifndef WEIR_STANDARD_OUTPUT_H
#define WEIR_STANDARD_OUTPUT_H

/* Opens closed descriptors among 0 to 2 such that reading and writing them fails. Otherwise the
 * next file to be opened would receive what is printed. */
void standard_streams_hold(void);
/* Writes what is pending and closes. `status`: that of the command. Returns it, but 1 instead of 0,
 * with a message, if output is lost: `weir NAME: standard output: No space left on device`. */
int standard_output_end(const char *name, int status);

#endif
