/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts as people write them: `1,234,567`, `1 packet`, `2 packets`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_COUNT_H
#define WEIR_COUNT_H

#include <stdint.h>

/* Formats 1,234,567 in at most COUNT_SIZE bytes. Returns text. */
#define COUNT_SIZE 32
const char *count_text(char text[COUNT_SIZE], uint64_t count);

/* Text by value, so that one printf can have several. */
struct count_of {
	char text[COUNT_SIZE + 64];
};

/* Formats the count and what it is of: `1 packet`, `1,200 packets`. `thing` is one of them, and
 * takes an `s` for several; a thing of several words is inflected at its first: `packet read`. */
struct count_of count_of(uint64_t count, const char *thing);
/* The same with a plural of its own: count_of_these(2, "copy", "copies"). */
struct count_of count_of_these(uint64_t count, const char *one, const char *several);

#endif
