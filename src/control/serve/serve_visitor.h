/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections there are, and how long each may take. microhttpd closes one on which nothing
 * moves; one that sends or takes a byte now and then would stay for ever: so a request must have
 * come whole within SERVE_REQUEST_MS, and its answer been taken within SERVE_ANSWER_MS. A stream of
 * events may last.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_VISITOR_H
#define WEIR_SERVE_VISITOR_H

#include <stdint.h>

#include <microhttpd.h>

#define SERVE_CONNECTIONS 512
#define SERVE_REQUEST_MS  15000
#define SERVE_ANSWER_MS   120000
#define SERVE_IDLE_S      30 /* without a byte, microhttpd's */

struct serve_visitor {
	struct serve_visitor *next, **at;
	int fd;
	uint64_t until_ms; /* UINT64_MAX: it may last */
};

struct serve_visitors {
	struct serve_visitor *first;
	uint64_t now_ms;
};

/* microhttpd's MHD_OPTION_NOTIFY_CONNECTION, with the visitors. */
void serve_visitor_notify(void *visitors, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code);
/* The connection's next step may take so long from now; UINT64_MAX: for ever. */
void serve_visitor_may(struct serve_visitors *visitors, struct MHD_Connection *connection,
                       uint64_t for_ms);
/* Closes those whose time is over. */
void serve_visitors_tick(struct serve_visitors *visitors, uint64_t now_ms);

#endif
