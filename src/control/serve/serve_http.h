/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The HTTP server: which requests are admitted (serve_request.h), and how each is answered. A
 * request that needs weir is suspended until weir has answered, at most SERVE_METRICS_MS for
 * metrics, else until its ask gives up (serve_ask.h); other requests do not wait for it.
 *
 * Bounds: SERVE_CONNECTIONS connections, of which SERVE_STREAMS may be streams; 32 KiB of headers;
 * SERVE_CHANGE_BYTES_MAX of a body.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_HTTP_H
#define WEIR_SERVE_HTTP_H

#include "serve/serve_ask.h"
#include "serve/serve_feed.h"
#include "serve/serve_stream.h"
#include "serve/serve_visitor.h"

#define SERVE_METRICS_MS 5000

struct serve_call; /* serve_call.h */

struct serve_http {
	struct MHD_Daemon *daemon;
	struct serve_feed feed;
	struct serve_streams streams;
	struct serve_asks asks;
	struct serve_visitors visitors;
	struct serve_call *waiting;
	const char *name;  /* a Host accepted besides addresses; or NULL */
	const char *token; /* NULL: no changes */
	uint64_t now_ms;
	int fd;       /* the daemon's, to be polled */
	bool ends;    /* no call may wait any more */
	bool resumed; /* a suspended connection was resumed */
};

/* Takes over `listen_fd`, until serve_http_close returns it. Returns 0 or -errno. */
int serve_http_open(struct serve_http *http, int listen_fd);
void serve_http_close(struct serve_http *http);
/* To be called when `fd` is ready, and as time passes. */
void serve_http_run(struct serve_http *http, uint64_t now_ms);
/* Returns the longest time to wait before the next call of serve_http_run. */
int serve_http_timeout_ms(const struct serve_http *http);

#endif
