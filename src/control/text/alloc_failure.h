/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes that output is incomplete for lack of memory.
 *
 * A table or a JSON object consists of many small pieces. If there is no memory for a piece, the
 * piece is left out. The code that leaves it out notes that here; the code that delivers the whole
 * reads the note once, at the end. Then command_main() returns status 1 with a message, a
 * session retracts its answer, and a file is not renamed to its final name. So no reader mistakes
 * incomplete output for complete output.
 *
 * command_main() calls alloc_failure_watch_json(); from then on, failed allocations of jansson are
 * noted, too.
 *
 * Thread: each thread has its own note.
 */
#ifndef WEIR_ALLOC_FAILURE_H
#define WEIR_ALLOC_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void alloc_failure_note(void);
/* Returns true if a failure was noted since the last call in this thread, and clears the note. */
bool alloc_failure_taken(void);
/* Forgets what was noted since that returned `noted`, for output that is marked as incomplete by
 * other means. */
void alloc_failure_restore(bool noted);
/* Returns zeroed memory, like calloc. If there is none, notes that and returns NULL. */
void *alloc_failure_calloc(size_t bytes);
void alloc_failure_watch_json(void);

/* A text that is printed into memory:
 *
 *   FILE *out = printed_begin(&text);
 *   ...
 *   return printed_end(&text); */
struct printed {
	char *bytes;
	size_t n;
	FILE *out;
};

/* Returns a stream, never NULL: if there is no memory, it takes what is printed, and loses it. */
FILE *printed_begin(struct printed *printed);
/* Closes the stream. Returns the text, terminated by a 0, to be freed; NULL if there was no memory
 * for all of it, which is noted. */
char *printed_end(struct printed *printed);

#endif
