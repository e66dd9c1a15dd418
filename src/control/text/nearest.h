/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nearest known word to one that is not known: least number of letters to insert, remove,
 * change or swap with their neighbour (optimal string alignment), upper and lower case counting
 * half.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_NEAREST_H
#define WEIR_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* Twice the number of edits, so that a change of case is 1. Words over 64 bytes: UINT32_MAX. */
uint32_t nearest_distance(const char *a, const char *b);

/* Collects the candidates one by one. Not to be copied: it points into itself. */
struct nearest {
	const char *word; /* the unknown one */
	const char *best; /* the nearest candidate so far, a copy of it; NULL: none near enough */
	uint32_t distance;
	char copy[65];
};
void nearest_start(struct nearest *nearest, const char *word);
/* A candidate counts when not more than about a third of the word is wrong, or only the case of its
 * letters. The first of equals stays. `candidate` may be NULL: ignored. */
void nearest_try(struct nearest *nearest, const char *candidate);

#endif
