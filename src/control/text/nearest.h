/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the known word that is nearest to an unknown one: with the least number of letters to
 * insert, remove, change or swap with their neighbour (optimal string alignment). A change of case
 * counts half.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_NEAREST_H
#define WEIR_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* Returns twice the number of edits, so that a change of case is 1; UINT32_MAX if a word has more
 * than 64 bytes. */
uint32_t nearest_distance(const char *a, const char *b);

/* The search: takes the candidates one by one. It must not be copied: it points into itself. */
struct nearest {
	const char *word; /* the unknown one */
	const char *best; /* copy of the nearest candidate so far; NULL: none is near enough */
	uint32_t distance;
	char copy[65];
};
void nearest_start(struct nearest *nearest, const char *word);
/* Considers a candidate if no more than about a third of the word is wrong, or only the case of its
 * letters. The first of equal ones is kept. Ignores NULL. */
void nearest_try(struct nearest *nearest, const char *candidate);

/*
 * Words as a sentence lists them: `a`, `b` or `c`. A long list is cut: `a`, `b`, ...
 *
 * Thread: pure functions, any.
 */

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
