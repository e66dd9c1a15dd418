/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir serve` between a browser and weir: the link, the feed and its streams, the
 * HTTP server, and the paths that it serves.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_HTTP_H
#define WEIR_SERVE_HTTP_H

#include <jansson.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"
#include "serve/serve_request.h"
#include "text/embedded_text.h"

/*
 * The last connections of the weir that is served, and where their time went (explain/explainer.h):
 * a thread that looks at the packets as `weir ctl explain` does, and keeps the latest
 * SERVE_EXPLAIN_KEPT that are over. It looks only while somebody asks: SERVE_EXPLAIN_IDLE_MS after
 * the last question it ends, and the next question begins anew.
 *
 * Ownership: serve_explain_end ends the thread, and frees everything.
 * Thread: the main thread.
 */

#define SERVE_EXPLAIN_KEPT    100
#define SERVE_EXPLAIN_IDLE_MS 30000

struct serve_explain {
	const char *path; /* of weir's socket; NULL: the default */
	pthread_t thread;
	bool begun; /* there is a thread, which has to be joined */
	/* of both threads */
	pthread_mutex_t lock;
	bool over; /* the thread ends, or has ended */
	uint64_t asked_ms;
	uint64_t n;                     /* connections so far */
	char *kept[SERVE_EXPLAIN_KEPT]; /* their JSON, number i at i % SERVE_EXPLAIN_KEPT */
	char why[480];                  /* it cannot look, because ...; "": it can */
};

void serve_explain_init(struct serve_explain *explain, const char *path);
void serve_explain_end(struct serve_explain *explain);
/* Returns {"n":..,"why":"..","connections":[..]}, the latest first, which the caller frees; NULL:
 * no memory. Begins to look, if it does not. */
char *serve_explain_text(struct serve_explain *explain, uint64_t now_ms);

/* A conversation with weir that never blocks: lines out, lines in, as they arrive. */

#define SERVE_LINK_BYTES_MAX ((size_t)64 << 20) /* of an incoming line */

struct serve_link {
	int fd; /* -1: not open */
	char *in, *out;
	size_t in_n, in_room, out_n, out_room;
	size_t at, seen; /* of `in`: the next line; no line ends in [at, seen) */
};

/* `path` NULL: the default. Returns 0, or -errno with problem. */
int serve_link_open(struct serve_link *link, const char *path, struct problem *problem);
void serve_link_close(struct serve_link *link);
/* Sends n bytes, which end with a newline, as soon as possible. Returns 0 or -errno. */
int serve_link_send(struct serve_link *link, const char *bytes, size_t n);
bool serve_link_wants_to_write(const struct serve_link *link);
int serve_link_write(struct serve_link *link);
/* Reads what has arrived. Returns 1; 0 if there is nothing; -ECONNRESET if weir has hung up; or
 * another -errno. */
int serve_link_read(struct serve_link *link);
/* Returns the next complete line, in which a 0 replaces the newline; NULL if there is none. To be
 * called after serve_link_read until it returns NULL. */
char *serve_link_line(struct serve_link *link, size_t *n);

/*
 * A conversation with weir for one query, or one change: sends its lines and `quit`, and collects
 * the answers until weir hangs up. At most SERVE_ASKS are under way at once, because weir accepts
 * few clients; the others wait.
 *
 * Ownership: the caller of serve_ask_begin calls serve_ask_end.
 * Thread: the caller's, one.
 */

#define SERVE_ASKS      2
#define SERVE_ASKS_MOST 32 /* including those that wait */

struct serve_ask {
	struct serve_ask *next;
	struct serve_asks *among;
	char *lines; /* owned */
	struct serve_link link;
	bool begun, done;
	uint64_t until_ms; /* deadline */
	char why[400];     /* why there is no complete answer; "": there is one */
	char *answer;      /* lines */
	size_t answer_n;
};

struct serve_asks {
	const char *path;
	struct serve_ask *first;
	uint32_t n;
};

/* Takes ownership of `lines`, which are without `quit`. Returns NULL if too many wait, or there is
 * no memory. */
struct serve_ask *serve_ask_begin(struct serve_asks *asks, char *lines, uint64_t now_ms);
void serve_ask_end(struct serve_ask *ask);
/* Continues all asks, and gives up those that are overdue. */
void serve_asks_tick(struct serve_asks *asks, uint64_t now_ms);
/* Fills `polled`, of SERVE_ASKS entries. Returns how many are used. */
uint32_t serve_asks_poll(const struct serve_asks *asks, struct pollfd *polled);

/*
 * The conversation on which weir pushes events and samples, and answers `show totals`. If it is
 * lost, it connects again by itself, once a second.
 *
 * Events are kept as weir keeps them, at most EVENT_LOG_MAX events and EVENT_LOG_BYTES, with weir's
 * numbers; a new run begins an empty log. Of the samples the latest is kept. Samples are requested
 * only while somebody wants them.
 */

#define SERVE_RUN_BYTES 32

struct event_log;

struct serve_feed {
	const char *path; /* NULL: the default */
	uint64_t interval_ns, clouds;
	struct serve_link link;
	bool up;           /* weir has answered `hello` */
	uint64_t again_ms; /* when to connect again */
	uint64_t heard_ms; /* when the latest input arrived, or the latest request was sent */
	uint32_t greeting; /* answers outstanding before it is up */
	char said[400];    /* why it is not up; "" if it is */
	json_t *hello;     /* the latest; or NULL */
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

/*
 * The open connections, and how long each may take. microhttpd closes a connection that is idle,
 * but not one that sends or reads a byte now and then. So a request must have arrived completely
 * within SERVE_REQUEST_MS, and its answer must be read within SERVE_ANSWER_MS. A stream of events
 * may last.
 */

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
 * metrics, else until its ask gives up; other requests do not wait for it.
 *
 * Bounds: SERVE_CONNECTIONS connections, of which SERVE_STREAMS may be streams; 32 KiB of headers;
 * SERVE_CHANGE_BYTES_MAX of a body.
 *
 * Thread: the caller's, one.
 */

#define SERVE_METRICS_MS 5000

struct serve_call;

struct serve_http {
	struct MHD_Daemon *daemon;
	struct serve_feed feed;
	struct serve_streams streams;
	struct serve_asks asks;
	struct serve_visitors visitors;
	struct serve_explain explain;
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
/* Returns true if weir has sent totals since the call began to wait for them. */
bool serve_call_has_totals(const struct serve_call *call);

/* Answers the call, or suspends it; then it is routed again later (serve_route.c). */
enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method);

/* The parts of the page, made from the files in page/ when weir is built. No part comes from
 * elsewhere. */
extern const struct embedded_text serve_texts[];

#endif
