/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_call.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_TYPE "text/plain; charset=utf-8"

/* ---- answers ---- */

enum MHD_Result serve_call_answer(struct serve_call *call, unsigned status,
                                  struct MHD_Response *response)
{
	static const char *const headers[][2] = {
	        {"Content-Security-Policy",
	         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
	         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	        {"X-Content-Type-Options", "nosniff"},
	        {"Referrer-Policy", "no-referrer"},
	        {"Cross-Origin-Resource-Policy", "same-origin"},
	        {"Cross-Origin-Opener-Policy", "same-origin"},
	        {"Cache-Control", "no-store"}};
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	serve_visitor_may(&call->http->visitors, call->connection, SERVE_ANSWER_MS);
	result = MHD_queue_response(call->connection, status, response);
	MHD_destroy_response(response);
	call->refused = true;
	return result;
}

enum MHD_Result serve_call_answer_bytes(struct serve_call *call, unsigned status, const char *type,
                                        char *text, size_t n)
{
	struct MHD_Response *response = NULL;

	if (text != NULL)
		response = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL)
		free(text);
	else
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return serve_call_answer(call, status, response);
}

enum MHD_Result serve_call_answer_line(struct serve_call *call, unsigned status, const char *line)
{
	char *text = NULL;
	int n = asprintf(&text, "%s\n", line);

	return serve_call_answer_bytes(call, status, TEXT_TYPE, n < 0 ? NULL : text,
	                               n < 0 ? 0 : (size_t)n);
}

const char *serve_call_header(struct serve_call *call, const char *name)
{
	return MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, name);
}

const char *serve_call_query(struct serve_call *call, const char *name)
{
	return MHD_lookup_connection_value(call->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- waiting ---- */

enum MHD_Result serve_call_wait(struct serve_call *call, uint64_t for_ms)
{
	struct serve_http *http = call->http;

	if (http->ends)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
		                              "weir serve is shutting down");
	call->asked_ms = http->now_ms;
	call->until_ms = http->now_ms + for_ms;
	call->next = http->waiting;
	call->at = &http->waiting;
	if (call->next != NULL)
		call->next->at = &call->next;
	http->waiting = call;
	call->waited = true;
	serve_visitor_may(&http->visitors, call->connection, UINT64_MAX);
	MHD_suspend_connection(call->connection);
	return MHD_YES;
}

static void call_go_on(struct serve_call *call)
{
	if (call->at == NULL)
		return;
	*call->at = call->next;
	if (call->next != NULL)
		call->next->at = call->at;
	call->at = NULL;
	call->http->resumed = true;
	MHD_resume_connection(call->connection);
}

void serve_call_asked(void *argument)
{
	call_go_on(argument);
}

bool serve_call_has_totals(const struct serve_call *call)
{
	const struct serve_feed *feed = &call->http->feed;

	return feed->totals != NULL && feed->totals_ms >= call->asked_ms;
}

void serve_calls_wake(struct serve_http *http, bool all)
{
	for (struct serve_call *call = http->waiting, *next; call != NULL; call = next) {
		next = call->next;
		if (all || http->now_ms >= call->until_ms ||
		    (call->ask == NULL && (serve_call_has_totals(call) || !http->feed.asked)))
			call_go_on(call);
	}
}
