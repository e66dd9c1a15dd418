/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request, from its first line to its answer, and its suspension while weir is queried.
 *
 * Ownership: serve_http.c makes and frees it.
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_CALL_H
#define WEIR_SERVE_CALL_H

#include "serve/serve_http.h"

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
/* Resumes the calls whose wait is over; or all. */
void serve_calls_wake(struct serve_http *http, bool all);

#endif
