/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many points fall into each cell of a picture, and the four strengths in which the cells are
 * drawn, by the number of bits of their counts: the fullest in the strongest (3), a quarter of
 * the way in bits to a single point in each weaker one. While no cell holds more than a few
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

/* 0 or -ENOMEM. density_free undoes it. */
int density_init(struct density *density, unsigned columns, unsigned rows);
void density_free(struct density *density);

/* Counts a point; outside the picture it is ignored. */
void density_add(struct density *density, double column, double row);

/* Whether so few cells are occupied that larger dots do not run together. */
bool density_is_sparse(const struct density *density);

/* The level of a cell, or -1 if it is empty. */
int density_level(const struct density *density, size_t cell);

/*
 * Path data of the cells of one level, in cell units: a stroke from the middle of the first to
 * the middle of the last of each unbroken run in a row. Returns the number of runs.
 */
size_t density_write(const struct density *density, unsigned level, FILE *out);

#endif
