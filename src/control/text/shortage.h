/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What could not be said for want of memory.
 *
 * A table, a JSON object or a page is made of many small pieces, and a piece that finds no memory
 * is left out. Whoever leaves something out notes it here, and who answers for the whole asks once,
 * at its end: command_main() gives status 1 and a message, a session takes its answer back, a file
 * is not put under its name. So nobody takes what has holes for whole.
 *
 * jansson's allocations note themselves once shortage_watch_json() has been called: by
 * command_main().
 *
 * Thread: the note is each thread's own.
 */
#ifndef WEIR_SHORTAGE_H
#define WEIR_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void shortage_note(void);
/* Whether anything was noted since this was asked last. */
bool shortage_taken(void);
/* open_memstream, which notes that it failed. */
FILE *shortage_stream(char **text, size_t *bytes);
/* fclose of such a stream, which notes that the text is not whole: then -1. The text is its owner's in
 * any case. */
int shortage_close(FILE *stream);
void shortage_watch_json(void);

#endif
