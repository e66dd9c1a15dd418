/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open connections, and how long each may take. microhttpd closes a connection that is idle,
 * but not one that sends or reads a byte now and then. So a request must have arrived completely
 * within SERVE_REQUEST_MS, and its answer must be read within SERVE_ANSWER_MS. A stream of events
 * may last.
 */
#ifndef WEIR_SERVE_HTTP_H
#define WEIR_SERVE_HTTP_H

#include <microhttpd.h>
#include <stdint.h>

#include "serve/serve_feed.h"
#include "serve/serve_link.h"
#include "text/embedded_text.h"

#define SERVE_CONNECTIONS 512
#define SERVE_REQUEST_MS  15000
#define SERVE_ANSWER_MS   120000
#define SERVE_IDLE_S      30 /* without a byte; microhttpd's limit */

struct serve_visitor {
	struct serve_visitor *next, **at;
	int fd;
	uint64_t until_ms; /* UINT64_MAX: no limit */
};

struct serve_visitors {
	struct serve_visitor *first;
	uint64_t now_ms;
};

/* Permits the next step of the connection to take `for_ms` from now; UINT64_MAX: for ever. */
void serve_visitor_may(struct serve_visitors *visitors, struct MHD_Connection *connection,
                       uint64_t for_ms);

/*
 * The HTTP server: which requests are admitted (serve_request.h), and how each is answered. A
 * request that needs weir is suspended until weir has answered, at most SERVE_METRICS_MS for
 * metrics, else until its ask gives up (serve_link.h); other requests do not wait for it.
 *
 * Bounds: SERVE_CONNECTIONS connections, of which SERVE_STREAMS may be streams; 32 KiB of headers;
 * SERVE_CHANGE_BYTES_MAX of a body.
 *
 * Thread: the caller's, one.
 */

#define SERVE_METRICS_MS 5000

struct serve_call; /* serve_http.h */

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

/*
 * One request, from its first line to its answer, and its suspension while weir is queried.
 *
 * Ownership: serve_http.c makes and frees it.
 */
struct serve_call {
	struct serve_call *next, **at; /* while it is suspended; at NULL: it is not */
	struct serve_http *http;
	struct MHD_Connection *connection;
	bool refused; /* an answer is on its way, whatever else arrives */
	bool waited;  /* it was suspended */
	uint64_t asked_ms, until_ms;
	char *body;
	size_t body_n; /* if more than SERVE_CHANGE_BYTES_MAX, body has only the beginning */
	uint32_t n_lines;
	struct serve_ask *ask;
};

/* Each queues the answer, and takes ownership of the response or text. If that is NULL, there was
 * no memory, and the connection is closed. */
enum MHD_Result serve_call_answer(struct serve_call *call, unsigned status,
                                  struct MHD_Response *response);
enum MHD_Result serve_call_answer_bytes(struct serve_call *call, unsigned status, const char *type,
                                        char *text, size_t n);
enum MHD_Result serve_call_answer_line(struct serve_call *call, unsigned status, const char *line);

/* Both return NULL if the value is absent. */
const char *serve_call_header(struct serve_call *call, const char *name);
const char *serve_call_query(struct serve_call *call, const char *name);

/* Suspends the call. It is routed again when what it waits for has arrived, or after `for_ms`. */
enum MHD_Result serve_call_wait(struct serve_call *call, uint64_t for_ms);
/* The `ready` callback of an ask; its argument is the call. */
void serve_call_asked(void *call);
/* Returns true if weir has sent totals since the call began to wait for them. */
bool serve_call_has_totals(const struct serve_call *call);

/* Answers the call, or suspends it; then it is routed again later (serve_route.c). */
enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method);

/* The parts of the page, made from the files in page/ when weir is built. No part comes from
 * elsewhere. */
extern const struct embedded_text serve_texts[];

#endif
