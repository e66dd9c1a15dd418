/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/density.h"

#include <errno.h>
#include <stdlib.h>

int density_init(struct density *density, unsigned columns, unsigned rows)
{
	density->columns = columns;
	density->rows = rows;
	density->fullest = 0;
	density->n_occupied = 0;
	density->counts = calloc((size_t)columns * rows, sizeof(*density->counts));
	return density->counts == NULL ? -ENOMEM : 0;
}

void density_free(struct density *density)
{
	free(density->counts);
	density->counts = NULL;
}

void density_add(struct density *density, double column, double row)
{
	if (!(column >= 0 && column < density->columns && row >= 0 && row < density->rows))
		return;
	uint32_t *count = &density->counts[(size_t)row * density->columns + (size_t)column];
	density->n_occupied += *count == 0;
	if (*count < UINT32_MAX)
		++*count;
	if (*count > density->fullest)
		density->fullest = *count;
}

static unsigned bits(uint32_t value)
{
	unsigned n = 0;
	for (; value != 0; value >>= 1)
		n++;
	return n;
}

bool density_is_sparse(const struct density *density)
{
	return density->n_occupied < (size_t)density->columns * density->rows / 12;
}

int density_level(const struct density *density, size_t cell)
{
	uint32_t count = density->counts[cell];
	unsigned most = bits(density->fullest), fewer = most - bits(count);
	if (count == 0)
		return -1;
	if (most < DENSITY_LEVELS)
		most = DENSITY_LEVELS;
	return (int)(DENSITY_LEVELS - 1 - fewer * DENSITY_LEVELS / most);
}

size_t density_write(const struct density *density, unsigned level, FILE *out)
{
	size_t runs = 0;
	for (unsigned row = 0; row < density->rows; row++) {
		size_t start = (size_t)row * density->columns;
		for (unsigned column = 0; column < density->columns; column++) {
			unsigned begin = column;
			while (column < density->columns &&
			       density_level(density, start + column) == (int)level)
				column++;
			if (column == begin)
				continue;
			fprintf(out, "M%u %uh%u", begin, row, column - 1 - begin);
			runs++;
		}
	}
	return runs;
}
