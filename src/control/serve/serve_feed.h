/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conversation on which weir pushes events and samples, and answers `show totals`. If it is
 * lost, it connects again by itself, once a second.
 *
 * Events are kept as weir keeps them, at most EVENT_LOG_MAX events and EVENT_LOG_BYTES, with weir's
 * numbers; a new run begins an empty log. Of the samples the latest is kept. Samples are requested
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
	bool up;            /* weir has answered `hello` */
	bool reading, over; /* a read is in progress; the link is to be closed after it */
	uint64_t again_ms;  /* when to connect again */
	uint64_t heard_ms;  /* when the latest input arrived, or the latest request was sent */
	uint32_t greeting;  /* answers outstanding before it is up */
	char said[400];     /* why it is not up; "" if it is */
	json_t *hello;      /* the latest; or NULL */
	char run[SERVE_RUN_BYTES]; /* the run of the events that are kept */
	struct event_log *events;
	uint64_t base;            /* weir's number of an event minus the log's */
	char *sample;             /* a line, or NULL */
	bool sampling;            /* weir pushes samples */
	uint64_t states, samples; /* how often each has changed */
	bool asked;               /* totals are requested, and the answer is outstanding */
	json_t *totals;           /* the latest; NULL: none, or weir has gone */
	uint64_t totals_ms;       /* when they arrived */
};

/* Returns false if there is no memory. */
bool serve_feed_begin(struct serve_feed *feed, const char *path, uint64_t interval_ns,
                      uint64_t clouds);
void serve_feed_end(struct serve_feed *feed);
/* Connects, if the time has come; gives up a connection that does not answer. `wanted`: samples are
 * wanted. */
void serve_feed_tick(struct serve_feed *feed, uint64_t now_ms, bool wanted);
/* To be called when the link's descriptor is ready. */
void serve_feed_read(struct serve_feed *feed, uint64_t now_ms);
/* Returns true if the totals are recent enough for a new request. Otherwise requests them from
 * weir, if that is connected. */
bool serve_feed_ask_totals(struct serve_feed *feed, uint64_t now_ms);

/* Return weir's numbers of the oldest event that is kept, and of the next to arrive. */
uint64_t serve_feed_first(const struct serve_feed *feed);
uint64_t serve_feed_next(const struct serve_feed *feed);
/* Returns the event, as weir has sent it; NULL if it is not kept. */
const char *serve_feed_event(const struct serve_feed *feed, uint64_t number);
/* Returns {"connected":..,"said":..,"hello":{..}}, which the caller frees; NULL if there is no
 * memory. */
char *serve_feed_state(const struct serve_feed *feed, bool changes);

#endif
