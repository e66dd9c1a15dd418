/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a recorded scenario, and what a row of changes.jsonl makes of them. The rows are
 * those of scenario_lines.h in dataplane/record/.
 *
 * Ownership: each line has memory of its own; lines_free gives it back. Thread: one.
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

/* Appends the lines of the text to those that are there. False: there is no memory. */
bool lines_of(struct lines *lines, const char *text);
/* False: the row does not fit, or there is no memory. Some of it may have been done. */
bool lines_change(struct lines *lines, const json_t *row);
/* As one text, the caller's; NULL: there is no memory. */
char *lines_text(const struct lines *lines);
void lines_free(struct lines *lines);

#endif
