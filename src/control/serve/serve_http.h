/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir serve` between a browser and weir: the feed and its streams, the HTTP server,
 * and the paths that it serves.
 *
 * Thread: each connection of a browser has its own (microhttpd makes it), and so has the feed; the
 * main thread waits for the end. `lock` of struct serve_http guards what they share.
 */
#ifndef WEIR_SERVE_HTTP_H
#define WEIR_SERVE_HTTP_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl_link.h"
#include "serve/serve_request.h"
#include "text/embedded_text.h"

/*
 * The last connections of the weir that is served, and where their time went (explain/explainer.h):
 * a thread that looks at the packets as `weir ctl explain` does, and keeps the latest
 * SERVE_EXPLAIN_KEPT that are over. It looks only while somebody asks: SERVE_EXPLAIN_IDLE_MS after
 * the last question it ends, and the next question begins anew.
 *
 * Ownership: serve_explain_end ends the thread, and frees everything.
 * Thread: serve_explain_text: any; the others: main.
 */

#define SERVE_EXPLAIN_KEPT    100
#define SERVE_EXPLAIN_IDLE_MS 30000

struct serve_explain {
	const char *path;       /* of weir's socket; NULL: the default */
	pthread_mutex_t asking; /* guards the next two */
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
char *serve_explain_text(struct serve_explain *explain);

/*
 * The conversation on which weir pushes events and samples, and answers `show totals`. If it is
 * lost, the feed connects again by itself, once a second.
 *
 * Events are kept as weir keeps them, at most EVENT_LOG_MAX events and EVENT_LOG_BYTES, with weir's
 * numbers; a new run begins an empty log. Of the samples the latest is kept. Samples are requested
 * only while a live stream is open, totals when somebody wants metrics.
 */

#define SERVE_RUN_BYTES  32
#define SERVE_METRICS_MS 5000 /* for the answer of weir */

struct event_log;

struct serve_feed {
	uint64_t interval_ns, clouds;
	int wake;                  /* an eventfd: something is wanted */
	bool up;                   /* weir has answered `hello` */
	char said[480];            /* why it is not up; "" if it is */
	json_t *hello;             /* the latest; or NULL */
	char run[SERVE_RUN_BYTES]; /* the run of the events that are kept */
	struct event_log *events;
	uint64_t base;            /* weir's number of an event minus the log's */
	char *sample;             /* a line, or NULL */
	uint64_t states, samples; /* how often each has changed */
	bool wanted, asked;       /* totals: wanted; requested, and the answer is outstanding */
	json_t *totals;           /* the latest; NULL: none, or weir has gone */
	uint64_t totals_ms;       /* when they arrived */
};

struct serve_http;

/* Returns false if there is no memory or no descriptor. */
bool serve_feed_begin(struct serve_feed *feed);
void serve_feed_end(struct serve_feed *feed);
/* Follows weir until `ends`; for a thread. `http`: a struct serve_http. */
void *serve_feed_run(void *http);
/* Returns totals that are at most 200 ms old, and the `hello` of their weir; asks weir for them if
 * need be. Both are copies, the caller's: jansson counts references without a lock. Returns NULL if
 * weir does not answer. */
json_t *serve_feed_totals(struct serve_http *http, json_t **hello);

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
 */

#define SERVE_STREAMS      64
#define SERVE_STREAM_BYTES 65536
#define SERVE_BEAT_MS      15000 /* a comment, so that a lost client is noticed */

/* Returns the response to a request, owned by the caller; NULL if there are SERVE_STREAMS, or no
 * memory. `from` NULL: from now on. */
struct MHD_Response *serve_stream_open(struct serve_http *http, bool live,
                                       const struct serve_from *from);

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

/*
 * The HTTP server: which requests are admitted (serve_request.h), and how each is answered. A
 * request that needs weir waits in its thread until weir has answered.
 *
 * Bounds: SERVE_CONNECTIONS connections, of which SERVE_STREAMS may be streams; 32 KiB of headers;
 * SERVE_CHANGE_BYTES_MAX of a body. weir accepts few clients, so SERVE_ASKS queries or changes are
 * under way at once, and SERVE_ASKS_MOST wait at most, those included.
 */

#define SERVE_ASKS      2
#define SERVE_ASKS_MOST 32

struct serve_http {
	const char *path;  /* of weir's socket; NULL: the default */
	const char *name;  /* a Host accepted besides addresses; or NULL */
	const char *token; /* NULL: no changes */
	struct MHD_Daemon *daemon;
	struct serve_explain explain;
	pthread_t follower; /* of the feed */
	/* with the lock */
	pthread_mutex_t lock;
	pthread_cond_t news; /* of any of the following */
	bool ends;
	struct serve_feed feed;
	uint32_t n_streams, n_live;
	uint32_t n_asks, n_asking;         /* n_asking: of these, under way */
	int conversations[1 + SERVE_ASKS]; /* descriptors of those with weir; -1: free */
	struct serve_visitor *visitors;
};

uint64_t serve_now_ms(void);

/* Takes over `listen_fd`, until serve_http_close returns it. Returns 0 or -errno. */
int serve_http_open(struct serve_http *http, int listen_fd);
void serve_http_close(struct serve_http *http);
/* Closes the connections whose time is over; to be called each second. */
void serve_http_tick(struct serve_http *http);
/* Waits for news, for `for_ms` at most. With the lock, which it releases meanwhile. */
void serve_http_wait(struct serve_http *http, uint64_t for_ms);

#define SERVE_ASK_WHY_BYTES 480
/* Opens a conversation with weir, which serve_http_close interrupts. Returns 0, or -errno with
 * `why`. */
int serve_conversation_open(struct serve_http *http, struct ctl_link *link, time_t patience_s,
                            char why[SERVE_ASK_WHY_BYTES]);
void serve_conversation_close(struct serve_http *http, struct ctl_link *link);
/* The same for a query or a change, in its turn. Returns also -EBUSY: too many wait. */
int serve_ask_begin(struct serve_http *http, struct ctl_link *link, char why[SERVE_ASK_WHY_BYTES]);
void serve_ask_end(struct serve_http *http, struct ctl_link *link);

/*
 * One request, from its first line to its answer.
 *
 * Ownership: serve_http.c makes and frees it.
 * Thread: that of its connection.
 */
struct serve_call {
	struct serve_http *http;
	struct MHD_Connection *connection;
	bool refused; /* an answer is on its way, whatever else arrives */
	char *body;
	size_t body_n; /* if more than SERVE_CHANGE_BYTES_MAX, body has only the beginning */
};

/* Permits the next step of the connection to take `for_ms` from now; UINT64_MAX: for ever. */
void serve_visitor_may(struct serve_http *http, struct MHD_Connection *connection, uint64_t for_ms);

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

/* Answers the call (serve_route.c). */
enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method);

/* The parts of the page, made from the files in page/ when weir is built. No part comes from
 * elsewhere. */
extern const struct embedded_text serve_texts[];

#endif
