/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts how many points fall into each cell of a picture, and draws the cells in four strengths,
 * by the number of bits of their counts: the fullest cell in the strongest (3), and one strength
 * weaker for each quarter of its bits that a count has less. While no cell holds more than a few
 * points, all are strong.
 */
#ifndef WEIR_DENSITY_H
#define WEIR_DENSITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DENSITY_LEVELS 4

struct density {
	unsigned columns, rows;
	size_t n_occupied;
	uint32_t fullest;
	uint32_t *counts; /* columns * rows, row by row; owned */
};

/* Allocates the counts; density_free frees them. Returns 0 or -ENOMEM. */
int density_init(struct density *density, unsigned columns, unsigned rows);
void density_free(struct density *density);

/* Counts a point. A point outside the picture is ignored. */
void density_add(struct density *density, double column, double row);

/* Returns true if so few cells are occupied that larger dots do not run together. */
bool density_is_sparse(const struct density *density);

/* Returns the level of a cell, or -1 if it is empty. */
int density_level(const struct density *density, size_t cell);

/*
 * Writes path data of the cells of one level, in cell units: for each unbroken run in a row, a
 * stroke from the middle of its first cell to the middle of its last. Returns the number of runs.
 */
size_t density_write(const struct density *density, unsigned level, FILE *out);

#endif
