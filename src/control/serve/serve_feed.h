/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir says: the conversation on which it pushes events and samples, and answers `show
 * totals`. It connects again by itself, once a second.
 *
 * Events are kept as weir keeps them, EVENT_LOG_MAX and EVENT_LOG_BYTES of them at most, with
 * weir's numbers; a run that follows begins anew. Of samples the latest is kept. They are asked for
 * only while somebody wants them.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_FEED_H
#define WEIR_SERVE_FEED_H

#include <jansson.h>
#include <stdint.h>

#include "serve/serve_link.h"

#define SERVE_RUN_BYTES 32

struct event_log;

struct serve_feed {
	const char *path; /* NULL: the default */
	uint64_t interval_ns, clouds;
	struct serve_link link;
	bool up;            /* weir has said hello */
	bool reading, over; /* lines are being taken; then the link is to be closed behind them */
	uint64_t again_ms;  /* when to try again */
	uint64_t heard_ms;  /* when something came last, or was asked first */
	uint32_t greeting;  /* answers to come before it is up */
	char said[400];     /* why it is not up; "" when it is */
	json_t *hello;      /* the latest; or NULL */
	char run[SERVE_RUN_BYTES]; /* of the events that are kept */
	struct event_log *events;
	uint64_t base;            /* weir's number of an event, less the log's */
	char *sample;             /* a line, or NULL */
	bool sampling;            /* weir pushes samples */
	uint64_t states, samples; /* how often each has become another */
	bool asked;               /* for totals, and the answer will come */
	json_t *totals;           /* the latest; NULL: none, or weir has gone */
	uint64_t totals_ms;       /* when they came */
};

/* False: no memory. */
bool serve_feed_begin(struct serve_feed *feed, const char *path, uint64_t interval_ns,
                      uint64_t clouds);
void serve_feed_end(struct serve_feed *feed);
/* Connects, if it is time; gives up one that says nothing; `wanted`: whether samples are. */
void serve_feed_tick(struct serve_feed *feed, uint64_t now_ms, bool wanted);
/* When the link's descriptor has something. */
void serve_feed_read(struct serve_feed *feed, uint64_t now_ms);
/* Whether there are totals so new that they do for who asks now; else it asks weir for them, if it
 * is there. */
bool serve_feed_ask_totals(struct serve_feed *feed, uint64_t now_ms);

/* The numbers, as weir has them, of the oldest event that is kept and of the next to come. */
uint64_t serve_feed_first(const struct serve_feed *feed);
uint64_t serve_feed_next(const struct serve_feed *feed);
/* The event, as weir has sent it; NULL: it is not kept. */
const char *serve_feed_event(const struct serve_feed *feed, uint64_t number);
/* {"connected":..,"said":..,"hello":{..}}; to be freed; NULL: no memory. */
char *serve_feed_state(const struct serve_feed *feed, bool changes);

#endif
