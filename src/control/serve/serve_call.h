/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request, from its first line to its answer; and its suspension while weir is asked.
 *
 * Ownership: serve_http.c makes and frees it. Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_CALL_H
#define WEIR_SERVE_CALL_H

#include "serve/serve_http.h"

struct serve_call {
	struct serve_call *next, **at; /* while it is suspended; at NULL: it is not */
	struct serve_http *http;
	struct MHD_Connection *connection;
	bool refused; /* an answer is on its way, whatever comes */
	bool waited;  /* it was suspended */
	uint64_t asked_ms, until_ms;
	char *body;
	size_t body_n;
	uint32_t n_lines;
	struct serve_ask *ask;
};

/* Each gives the answer; a response, or a text, passes. NULL: no memory, and the connection ends.
 * */
enum MHD_Result serve_call_answer(struct serve_call *call, unsigned status,
                                  struct MHD_Response *response);
enum MHD_Result serve_call_answer_bytes(struct serve_call *call, unsigned status, const char *type,
                                        char *text, size_t n);
enum MHD_Result serve_call_answer_line(struct serve_call *call, unsigned status, const char *line);

/* NULL: it is not there. */
const char *serve_call_header(struct serve_call *call, const char *name);
const char *serve_call_query(struct serve_call *call, const char *name);

/* Suspends it: it is routed again when what it waits for has come, or after so long. */
enum MHD_Result serve_call_wait(struct serve_call *call, uint64_t for_ms);
/* Of an ask, with the call. */
void serve_call_asked(void *call);
/* Whether there are totals that weir has sent since the call waits for them. */
bool serve_call_has_totals(const struct serve_call *call);
/* Those go on for whom something has come; or all. */
void serve_calls_wake(struct serve_http *http, bool all);

#endif
