/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words in a row, as a sentence lists them: `a`, `b` or `c`. A long list is cut: `a`, `b`, ...
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LISTING_H
#define WEIR_LISTING_H

#include <stdint.h>

struct listing {
	const char *conjunction; /* `or`, `and` */
	uint32_t n;
	uint32_t length;
	char pending[64]; /* the last word: only the end knows what stands before it */
	char text[256];
};

void listing_start(struct listing *listing, const char *conjunction);
/* One that is the same as the one before is left out. */
void listing_add(struct listing *listing, const char *word);
/* Words that stand for something, without the marks: `a`, `b` or a number. */
void listing_add_plain(struct listing *listing, const char *words);
/* The text; "" when nothing was added. */
const char *listing_end(struct listing *listing);

#endif
