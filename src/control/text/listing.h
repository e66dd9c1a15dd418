/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words as a sentence lists them: `a`, `b` or `c`. A long list is cut: `a`, `b`, ...
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
	char pending[64]; /* the last word; `, ` or the conjunction will precede it */
	char text[256];
};

void listing_start(struct listing *listing, const char *conjunction);
/* Adds a word between backquotes, unless it equals the last one. */
void listing_add(struct listing *listing, const char *word);
/* Adds words without backquotes, such as a number in: `a`, `b` or a number. */
void listing_add_plain(struct listing *listing, const char *words);
/* Returns the text; "" if nothing was added. */
const char *listing_end(struct listing *listing);

#endif
