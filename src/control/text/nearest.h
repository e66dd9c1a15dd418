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

#endif
