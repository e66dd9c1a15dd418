/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts samples into bins, for a histogram series: n bins have n + 1 ascending edges. A bin holds
 * lower <= sample < upper, the last bin also its upper edge. All arrays are the caller's.
 */
#ifndef WEIR_BINS_H
#define WEIR_BINS_H

#include <stddef.h>

#include "report/axis.h"

/* Sets edges[0 .. n] from lo to hi, equally wide on the scale. Returns 0; or -EINVAL unless n > 0,
 * lo < hi, and lo > 0 for log10. */
int bins_divide(double *edges, size_t n, enum axis_scale scale, double lo, double hi);

/* Adds each sample to counts[0 .. n - 1], which the caller has set to zero. Returns how many
 * samples lay outside or were NaN. */
size_t bins_count(const double *edges, double *counts, size_t n, const double *samples,
                  size_t n_samples);

#endif
