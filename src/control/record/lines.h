/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a recorded scenario, and how the rows of changes.jsonl change them. The rows are
 * those of scenario_lines.h in dataplane/record/.
 *
 * Ownership: each line has memory of its own; lines_free frees it.
 * Thread: one.
 */
#ifndef WEIR_LINES_H
#define WEIR_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct lines {
	char **line;
	size_t n, room;
};

/* Appends the lines of the text. Returns false if there is no memory. */
bool lines_of(struct lines *lines, const char *text);
/* Applies a row. Returns false if it does not fit or there is no memory; a part of it may then have
 * been applied. */
bool lines_change(struct lines *lines, const json_t *row);
/* Returns the lines as one text, which the caller frees, or NULL if there is no memory. */
char *lines_text(const struct lines *lines);
void lines_free(struct lines *lines);

#endif
