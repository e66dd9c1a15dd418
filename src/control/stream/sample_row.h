/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a sample (sampler.h): the busiest of all clouds, and the templates; and a sample as
 * lines for people.
 *
 * Thread: that of the sampler.
 */
#ifndef WEIR_SAMPLE_ROW_H
#define WEIR_SAMPLE_ROW_H

#include <jansson.h>
#include <stdio.h>

#include "figures/figures.h"
#include "service/control.h"

/* The figures of a cloud in a sample: first the counters, of which a sample has the growth. */
#define SAMPLE_COUNTERS_MAX 8
#define SAMPLE_FIGURES_MAX  12
struct sample_figures {
	uint32_t n_counters, n;
	const struct figure *figure[SAMPLE_FIGURES_MAX];
	uint32_t weight[SAMPLE_COUNTERS_MAX]; /* by which a counter makes a cloud busy */
};

struct sample_row {
	uint32_t cloud,
	        index; /* cloud: in the scenario; index: in a template; of a template's own row, how
	                * many clouds it has */
	uint64_t weight; /* the bytes in and out, plus drops as if each were a frame */
	uint64_t v[SAMPLE_FIGURES_MAX]; /* in the order of the figures */
};

/* The delays of a cloud in the last sample, as they were then. */
struct sample_delays {
	uint32_t cloud;
	struct histogram_part part;
};

struct sample_rows {
	struct sample_figures figures;
	uint32_t most, n, n_templates;
	uint32_t least; /* the index in `row` with the least weight, if n == most */
	struct sample_row *row, *of_template;
	uint32_t n_delays;
	struct sample_delays *delays;
};

bool sample_rows_make(struct sample_rows *rows, uint32_t most);
void sample_rows_release(struct sample_rows *rows);
/* Empties the rows, before a pass. */
void sample_rows_clear(struct sample_rows *rows);
/* Frees the delays of the last sample, when indices in the scenario change. */
void sample_rows_forget(struct sample_rows *rows);
/* Takes the row if it is one of those with the most weight so far. */
void sample_rows_offer(struct sample_rows *rows, const struct sample_row *row);
void sample_rows_template(struct sample_rows *rows, const struct sample_row *row);
/* Makes arrays of the rows, the busiest first. */
void sample_rows_json(struct sample_rows *rows, struct control *control, json_t **clouds,
                      json_t **templates);

/* Reads the row of a cloud, all 0 but for its indices: what was counted since `seen`, which becomes
 * what is counted now, and what it has now. If a counter has decreased, the cloud was made anew, or
 * cleared: then all of it counts. `seen` NULL: there was no memory for it, and nothing counts. */
void sample_row_read(const struct sample_figures *figures, struct sample_row *row,
                     const struct cloud_brief *brief, uint64_t seen[SAMPLE_COUNTERS_MAX]);
void sample_row_add(const struct sample_figures *figures, struct sample_row *to,
                    const struct sample_row *from);
/* Adds the first n figures to an object. */
void sample_row_put(const struct sample_figures *figures, json_t *object,
                    const struct sample_row *row, uint32_t n);
/* Returns {"count":..,"p50":..,"p99":..,"max":..}. */
json_t *sample_percentiles(const struct histogram *histogram);

/* Prints a sample as lines, each of which begins with `sample `. */
void sample_print(FILE *out, const json_t *sample);

#endif
