/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes output that is incomplete for lack of memory.
 *
 * A table, a JSON object or a page consists of many small pieces. A piece that finds no memory is
 * left out. The code that leaves it out notes that here; the code that delivers the whole reads the
 * note once, at the end. Then command_main() returns status 1 with a message, a session retracts
 * its answer, and a file is not renamed to its final name. So no reader mistakes incomplete output
 * for complete output.
 *
 * jansson's allocations note themselves once alloc_failure_watch_json() has been called: by
 * command_main().
 *
 * Thread: the note is each thread's own.
 */
#ifndef WEIR_ALLOC_FAILURE_H
#define WEIR_ALLOC_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void alloc_failure_note(void);
/* Whether anything was noted since the last call. */
bool alloc_failure_taken(void);
/* Zeroed, as by calloc; NULL is noted. */
void *alloc_failure_calloc(size_t bytes);
/* open_memstream, which notes that it failed. */
FILE *alloc_failure_stream(char **text, size_t *bytes);
/* fclose of such a stream, which notes that the text is not whole: then -1. The text is its
 * owner's in any case. */
int alloc_failure_close(FILE *stream);
void alloc_failure_watch_json(void);

#endif
