/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a sample (sampler.h): of all clouds those that did most, and the templates.
 *
 * Thread: control's.
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
	        index; /* in the scenario; of a template's cloud, which; of a template, how many
	                        * there are */
	struct sample_sums sums;
	uint64_t held_packets, queue_packets, queue_bytes;
};

/* The delays of a cloud that stood in the last sample, at that time. */
struct sample_delays {
	uint32_t cloud;
	struct histogram_part part;
};

struct sample_rows {
	uint32_t most, n, n_templates;
	uint32_t least; /* which of `row` has the least weight, if n == most */
	struct sample_row *row, *of_template;
	uint32_t n_delays;
	struct sample_delays *delays;
};

bool sample_rows_make(struct sample_rows *rows, uint32_t most);
void sample_rows_release(struct sample_rows *rows);
/* Before a pass. */
void sample_rows_clear(struct sample_rows *rows);
/* The indices of the scenario are others. */
void sample_rows_forget(struct sample_rows *rows);
/* Takes it, if it is one of those with the most weight so far. */
void sample_rows_offer(struct sample_rows *rows, const struct sample_row *row);
void sample_rows_template(struct sample_rows *rows, const struct sample_row *row);
/* As arrays, the busiest first. */
void sample_rows_json(struct sample_rows *rows, struct control *control, json_t **clouds,
                      json_t **templates);

/* Bytes in and out, and drops as if each were a frame. */
uint64_t sample_weight(const struct sample_row *row);
/* What was counted since, and remembers what is counted now. A cloud that has fewer than then was
 * made anew, or cleared: all of it counts. */
void sample_sums_since(struct sample_sums *since, struct sample_sums *seen,
                       const struct counters *now);
void sample_sums_add(struct sample_sums *to, const struct sample_sums *from);
json_t *sample_sums_json(const struct sample_sums *sums);
void sample_row_add(struct sample_row *to, const struct sample_row *from);
/* {"count":..,"p50":..,"p99":..,"max":..} */
json_t *sample_percentiles(const struct histogram *histogram);

#endif
