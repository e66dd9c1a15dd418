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
#include <microhttpd.h>
#include <stdint.h>

#include "serve/serve_link.h"
#include "serve/serve_request.h"

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

/*
 * Server-sent events. Each client has a position in the feed's events, and receives each event that
 * is kept once, in order; of samples it receives the latest when it has read what came before. So a
 * slow client costs SERVE_STREAM_BYTES and a sample, and delays nobody. If events that it has not
 * read are gone, `event: gone` tells it where it continues. A client that comes back with
 * Last-Event-ID continues after that event if the run is the same, else with the oldest.
 *
 *   id: b25f0c1e2a3b4c5d-17        the run, and the number that weir gave the event
 *   data: {"event":"change",...}   the event, as weir has it
 *
 * A live stream also has `event: state` (whether weir is connected) and `event: sample`.
 *
 * Thread: the caller's, one.
 */

#define SERVE_STREAMS      64
#define SERVE_STREAM_BYTES 65536
#define SERVE_BEAT_MS      15000 /* a comment, so that a lost client is noticed */

struct serve_streams {
	struct serve_feed *feed;
	bool changes; /* changes are permitted; for the state */
	bool over;    /* all streams end */
	struct serve_stream *first;
	uint32_t n, n_live;
	uint64_t beat_ms;
};

/* Returns the response to a request, owned by the caller; NULL if there are SERVE_STREAMS, or no
 * memory. `from` NULL: from now on. */
struct MHD_Response *serve_stream_open(struct serve_streams *streams,
                                       struct MHD_Connection *connection, bool live,
                                       const struct serve_from *from);
/* Wakes the streams that have something to read. Returns true if there was one. */
bool serve_streams_tick(struct serve_streams *streams, uint64_t now_ms);
/* Ends all streams; to be called before the daemon stops. */
void serve_streams_end(struct serve_streams *streams);

#endif
