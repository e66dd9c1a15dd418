/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a sample (sampler.h): the busiest of all clouds, and the templates.
 *
 * Thread: control.
 */
#ifndef WEIR_SAMPLE_ROW_H
#define WEIR_SAMPLE_ROW_H

#include <jansson.h>

#include "account/counters.h"
#include "service/control.h"

enum {
	SAMPLE_RX_PACKETS,
	SAMPLE_RX_BYTES,
	SAMPLE_TX_PACKETS,
	SAMPLE_TX_BYTES,
	SAMPLE_EMULATED, /* drops, by kind */
	SAMPLE_CONGESTION,
	SAMPLE_REAL,
	SAMPLE_SUMS
};

struct sample_sums {
	uint64_t v[SAMPLE_SUMS];
};

struct sample_row {
	uint32_t cloud,
	        index; /* cloud: in the scenario; index: in a template; of a template's own row, how
	                * many clouds it has */
	struct sample_sums sums;
	uint64_t held_packets, queue_packets, queue_bytes;
};

/* The delays of a cloud in the last sample, as they were then. */
struct sample_delays {
	uint32_t cloud;
	struct histogram_part part;
};

struct sample_rows {
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

/* Returns the bytes in and out, plus drops as if each were a frame. */
uint64_t sample_weight(const struct sample_row *row);
/* Computes what was counted since `seen`, which becomes what is counted now. If a counter has
 * decreased, the cloud was made anew, or cleared: then all of it counts. */
void sample_sums_since(struct sample_sums *since, struct sample_sums *seen,
                       const struct counters *now);
void sample_sums_add(struct sample_sums *to, const struct sample_sums *from);
json_t *sample_sums_json(const struct sample_sums *sums);
void sample_row_add(struct sample_row *to, const struct sample_row *from);
/* Returns {"count":..,"p50":..,"p99":..,"max":..}. */
json_t *sample_percentiles(const struct histogram *histogram);

#endif
