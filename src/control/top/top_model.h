/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that `weir top` shows: the latest sample, the latest events, and the history of the
 * queue of each cloud that was in recent samples. Bounded: TOP_HISTORIES clouds, TOP_EVENTS events.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_MODEL_H
#define WEIR_TOP_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_EVENTS      256
#define TOP_EVENT_BYTES 320
#define TOP_HISTORIES   512
#define TOP_HISTORY     32
#define TOP_NAME_BYTES  160
#define TOP_ROWS        1152 /* templates and clouds in a sample */

enum top_sort {
	TOP_BY_OUT,
	TOP_BY_IN,
	TOP_BY_DROPS,
	TOP_BY_QUEUE,
	TOP_BY_DELAY,
	TOP_BY_NAME,
	TOP_SORTS
};
extern const char *const top_sort_names[TOP_SORTS];

struct top_history {
	char cloud[TOP_NAME_BYTES];
	uint64_t seen;                              /* the latest sample that contained it */
	float queue[TOP_HISTORY], out[TOP_HISTORY]; /* bytes, bytes a second; the latest last */
};

/* A cloud, or a template, in the latest sample. */
struct top_row {
	char name[TOP_NAME_BYTES];
	double clouds; /* of a template; else 0 */
	double in_bps, out_bps, out_pps;
	double emulated, congestion, real;        /* a second */
	double queue_bytes, delay_p50, delay_p99; /* -1: unknown */
	const struct top_history *history;        /* or NULL */
};

struct top_model {
	json_t *sample; /* or NULL */
	bool paused;
	double seconds; /* the length of the sample */
	uint64_t n_samples;
	enum top_sort sort;
	char filter[64];
	uint32_t n_rows;
	struct top_row rows[TOP_ROWS]; /* filtered and sorted */
	struct top_history histories[TOP_HISTORIES];
	uint64_t n_events; /* so far */
	struct {
		bool real; /* weir's own loss, or a stall */
		char text[TOP_EVENT_BYTES];
	} events[TOP_EVENTS];
};

/* Takes a sample or an event. Samples are ignored while `paused` is set. */
void top_model_take(struct top_model *model, const json_t *object);
/* Makes the rows again, after a change of the sort or filter. */
void top_model_arrange(struct top_model *model);
void top_model_release(struct top_model *model);

#endif
