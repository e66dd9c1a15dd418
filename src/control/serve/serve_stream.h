/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Server-sent events. Each client has a place in the feed's events, and sees each that is kept
 * once, in order; of samples the latest when it has read what came before. So a slow one costs
 * SERVE_STREAM_BYTES and a sample, and delays nobody; what has gone from under it, it is told:
 * `event: gone` with from where it goes on. A client that comes back with Last-Event-ID goes on
 * behind that one, if the run is the same, and else begins with the oldest.
 *
 *   id: b25f0c1e2a3b4c5d-17        the run, and the number that weir gave the event
 *   data: {"event":"change",...}   the event, as weir has it
 *
 * A live one also has `event: state` (whether weir is there) and `event: sample`.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_STREAM_H
#define WEIR_SERVE_STREAM_H

#include <microhttpd.h>

#include "serve/serve_feed.h"
#include "serve/serve_request.h"

#define SERVE_STREAMS      64
#define SERVE_STREAM_BYTES 65536
#define SERVE_BEAT_MS      15000 /* a comment, so that one that has gone is noticed */

struct serve_streams {
	struct serve_feed *feed;
	bool changes; /* of the state */
	bool over;    /* all end */
	struct serve_stream *first;
	uint32_t n, n_live;
	uint64_t beat_ms;
};

/* The answer to a request, owned by the caller; NULL: there are SERVE_STREAMS, or no memory.
 * `from`: NULL: from now on. */
struct MHD_Response *serve_stream_open(struct serve_streams *streams,
                                       struct MHD_Connection *connection, bool live,
                                       const struct serve_from *from);
/* Wakes who has something to read. Whether there was somebody. */
bool serve_streams_tick(struct serve_streams *streams, uint64_t now_ms);
/* Before the daemon stops: all end. */
void serve_streams_end(struct serve_streams *streams);

#endif
