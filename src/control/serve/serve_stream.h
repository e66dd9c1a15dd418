/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_SERVE_STREAM_H
#define WEIR_SERVE_STREAM_H

#include <microhttpd.h>

#include "serve/serve_feed.h"
#include "serve/serve_request.h"

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
