/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics as text, in two forms that differ little: OpenMetrics 1.0, and the older text format
 * 0.0.4 of Prometheus, in which a counter's family has the name of its samples, and no line marks
 * the end.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_EXPOSITION_H
#define WEIR_SERVE_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "figures/figures.h"

struct exposition {
	FILE *out;
	bool openmetrics;
	const char *family;
	enum figure_kind kind;
};

/* Begins a family, to which the samples that follow belong. `name` without `_total`. */
void exposition_family(struct exposition *exposition, const char *name, enum figure_kind kind,
                       const char *help);
/* `labels`: made by exposition_label, without braces; "": none. */
void exposition_count(struct exposition *exposition, const char *labels, uint64_t value);
/* In seconds. */
void exposition_time(struct exposition *exposition, const char *labels, uint64_t ns);
/* Prints a bucket of a histogram: the number of values from 0 to `top_ns` (UINT64_MAX: of all
 * values). */
void exposition_bucket(struct exposition *exposition, const char *labels, uint64_t top_ns,
                       uint64_t count);
void exposition_histogram_end(struct exposition *exposition, const char *labels, uint64_t sum_ns,
                              uint64_t count);
void exposition_end(struct exposition *exposition);

/* Appends `name="value"` to `labels`, a buffer of `room` bytes, preceded by a comma if it is not
 * the first. */
void exposition_label(char *labels, size_t room, const char *name, const char *value);

#endif
