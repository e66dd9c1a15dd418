/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of HTTP: who may ask (serve_request.h), what for, and what is answered. A request that
 * needs weir is suspended until weir has answered, or SERVE_METRICS_MS have passed; nothing waits
 * for it meanwhile.
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

struct serve_call; /* one that is suspended */

struct serve_http {
	struct MHD_Daemon *daemon;
	struct serve_feed feed;
	struct serve_streams streams;
	struct serve_asks asks;
	struct serve_visitors visitors;
	struct serve_call *waiting;
	const char *name;  /* a Host beside addresses; or NULL */
	const char *token; /* NULL: no changes */
	uint64_t now_ms;
	int fd;       /* of the daemon, to be polled */
	bool ends;    /* nobody waits any more */
	bool resumed; /* a suspended connection goes on */
};

/* Takes `listen_fd`, until serve_http_close gives it back. 0 or -errno. */
int serve_http_open(struct serve_http *http, int listen_fd);
void serve_http_close(struct serve_http *http);
/* When `fd` has something, and when time passes. */
void serve_http_run(struct serve_http *http, uint64_t now_ms);
/* How long to wait for either, at most. */
int serve_http_timeout_ms(const struct serve_http *http);

#endif
