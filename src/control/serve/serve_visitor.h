/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open connections, and how long each may take. microhttpd closes a connection that is idle,
 * but not one that sends or reads a byte now and then. So a request must have arrived completely
 * within SERVE_REQUEST_MS, and its answer must be read within SERVE_ANSWER_MS. A stream of events
 * may last.
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

/* The callback of MHD_OPTION_NOTIFY_CONNECTION; its argument is the visitors. */
void serve_visitor_notify(void *visitors, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code);
/* Permits the next step of the connection to take `for_ms` from now; UINT64_MAX: for ever. */
void serve_visitor_may(struct serve_visitors *visitors, struct MHD_Connection *connection,
                       uint64_t for_ms);
/* Closes the connections whose time is over. */
void serve_visitors_tick(struct serve_visitors *visitors, uint64_t now_ms);

#endif
