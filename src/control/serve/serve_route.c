/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/theme.h"
#include "serve/serve_change.h"
#include "serve/serve_metrics.h"
#include "serve/serve_part.h"
#include "serve/serve_request.h"

#define TOO_LARGE     413 /* the names of both in microhttpd depend on the version */
#define UNPROCESSABLE 422
#define JSON_TYPE     "application/json"
#define TEXT_TYPE     "text/plain; charset=utf-8"

static enum MHD_Result get_metrics(struct serve_call *call)
{
	struct serve_http *http = call->http;
	bool openmetrics = serve_wants_openmetrics(serve_call_header(call, "Accept"));
	bool there = call->waited ? serve_call_has_totals(call)
	                          : serve_feed_ask_totals(&http->feed, http->now_ms);
	char *text;
	size_t n;

	if (!there && !call->waited && http->feed.asked)
		return serve_call_wait(call, SERVE_METRICS_MS);
	text = serve_metrics_text(there ? http->feed.totals : NULL, there ? http->feed.hello : NULL,
	                          openmetrics, &n);
	return serve_call_answer_bytes(call, MHD_HTTP_OK, serve_metrics_type(openmetrics), text, n);
}

static enum MHD_Result get_stream(struct serve_call *call, bool live)
{
	const char *last = serve_call_header(call, "Last-Event-ID"),
	           *asked_from = serve_call_query(call, "from");
	struct MHD_Response *response;
	struct serve_from from;
	enum MHD_Result result;

	if (last == NULL)
		last = serve_call_query(call, "lastEventId");
	if (last != NULL && !serve_from_read(last, &from))
		return serve_call_answer_line(call, MHD_HTTP_BAD_REQUEST,
		                              "weir serve sends no such Last-Event-ID");
	if (last == NULL && asked_from != NULL && !serve_from_read(asked_from, &from))
		return serve_call_answer_line(call, MHD_HTTP_BAD_REQUEST,
		                              "`from` must be the number of an event, or `oldest`");
	if (last != NULL && !from.oldest)
		from.number++;
	response = serve_stream_open(&call->http->streams, call->connection, live,
	                             last != NULL || asked_from != NULL ? &from : NULL);
	if (response == NULL)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
		                              "too many listeners; try again later");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	result = serve_call_answer(call, MHD_HTTP_OK, response);
	serve_visitor_may(&call->http->visitors, call->connection, UINT64_MAX);
	return result;
}

static enum MHD_Result get_events(struct serve_call *call)
{
	return get_stream(call, false);
}

static enum MHD_Result get_live(struct serve_call *call)
{
	return get_stream(call, true);
}

/* Begins a query to weir; takes ownership of `lines`. */
static enum MHD_Result ask_weir(struct serve_call *call, char *lines)
{
	struct serve_http *http = call->http;

	call->ask = serve_ask_begin(&http->asks, lines, http->now_ms, serve_call_asked, call);
	if (call->ask == NULL)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
		                              "too many requests; try again later");
	return serve_call_wait(call, UINT64_MAX / 2);
}

/* Answers with the text that weir has answered. */
static enum MHD_Result answer_asked(struct serve_call *call)
{
	const struct serve_ask *ask = call->ask;
	char *text;
	size_t n;
	bool found;

	if (!ask->done || ask->why[0] != '\0')
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
		                              ask->done ? ask->why : "weir serve is shutting down");
	found = serve_change_text(ask->answer, &text, &n);
	return serve_call_answer_bytes(call, found ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, TEXT_TYPE,
	                               text, n);
}

static enum MHD_Result get_cloud(struct serve_call *call)
{
	const char *name = serve_call_query(call, "name");
	char line[300], *text;

	if (call->ask != NULL)
		return answer_asked(call);
	if (name == NULL || !serve_cloud_line(name, line, sizeof(line)))
		return serve_call_answer_line(
		        call, MHD_HTTP_BAD_REQUEST,
		        "`name` must be the name of a cloud: /cloud?name=down");
	text = strdup(line);
	return text == NULL ? MHD_NO : ask_weir(call, text);
}

static enum MHD_Result get_scenario(struct serve_call *call)
{
	char *text;

	if (call->ask != NULL)
		return answer_asked(call);
	text = strdup("show config\n");
	return text == NULL ? MHD_NO : ask_weir(call, text);
}

static enum MHD_Result get_theme(struct serve_call *call)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out == NULL)
		return MHD_NO;
	theme_write(out);
	if (fclose(out) != 0)
		return MHD_NO;
	return serve_call_answer_bytes(call, MHD_HTTP_OK, "text/css", text, n);
}

static enum MHD_Result post_change(struct serve_call *call)
{
	char why[SERVE_WHY_BYTES], *lines, *text;
	bool ok;

	if (call->ask != NULL) {
		text = serve_change_answer(call->ask, call->n_lines, &ok);
		return serve_call_answer_bytes(call, ok ? MHD_HTTP_OK : UNPROCESSABLE, JSON_TYPE,
		                               text, text != NULL ? strlen(text) : 0);
	}
	lines = serve_change_conversation(call->body != NULL ? call->body : "", call->body_n,
	                                  serve_call_query(call, "lease"), &call->n_lines, why);
	if (lines != NULL)
		return ask_weir(call, lines);
	text = serve_change_refused(why, call->n_lines);
	return serve_call_answer_bytes(
	        call, call->body_n > SERVE_CHANGE_BYTES_MAX ? TOO_LARGE : UNPROCESSABLE, JSON_TYPE,
	        text, text != NULL ? strlen(text) : 0);
}

/* To HEAD, a stream answers its header, and does not begin. */
static enum MHD_Result answer_stream_header(struct serve_call *call)
{
	return serve_call_answer_bytes(call, MHD_HTTP_OK, "text/event-stream", strdup(""), 0);
}

/* HEAD is allowed where GET is. The library leaves out the body. */
static const struct {
	const char *path;
	const char *method;
	enum MHD_Result (*does)(struct serve_call *call), (*heads)(struct serve_call *call);
} routes[] = {
        {"/metrics", "GET", get_metrics, get_metrics},
        {"/events", "GET", get_events, answer_stream_header},
        {"/live", "GET", get_live, answer_stream_header},
        {"/cloud", "GET", get_cloud, get_cloud},
        {"/scenario", "GET", get_scenario, get_scenario},
        {"/theme.css", "GET", get_theme, get_theme},
        {"/change", "POST", post_change, NULL},
};

static enum MHD_Result answer_not_allowed(struct serve_call *call, bool gets)
{
	static char get_text[] = "only GET and HEAD are allowed here\n",
	            post_text[] = "only POST is allowed here\n";
	char *text = gets ? get_text : post_text;
	struct MHD_Response *response =
	        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);

	if (response != NULL) {
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, TEXT_TYPE);
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
		                        gets ? "GET, HEAD" : "POST");
	}
	return serve_call_answer(call, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

static enum MHD_Result answer_part(struct serve_call *call, const char *path)
{
	const char *type = NULL;
	const struct embedded_text *part = serve_part_find(path, &type);
	struct MHD_Response *response;

	if (part == NULL)
		return serve_call_answer_line(
		        call, MHD_HTTP_NOT_FOUND,
		        "not found; there are /, /metrics, /events, /live, /scenario and "
		        "/cloud?name=NAME");
	response = MHD_create_response_from_buffer(part->bytes, (void *)(uintptr_t)part->text,
	                                           MHD_RESPMEM_PERSISTENT);
	if (response != NULL)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return serve_call_answer(call, MHD_HTTP_OK, response);
}

enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method)
{
	const bool heads = strcmp(method, "HEAD") == 0;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].path, path) != 0)
			continue;
		if (strcmp(routes[i].method, method) == 0)
			return routes[i].does(call);
		if (heads && routes[i].heads != NULL)
			return routes[i].heads(call);
		return answer_not_allowed(call, routes[i].heads != NULL);
	}
	if (!heads && strcmp(method, "GET") != 0)
		return answer_not_allowed(call, true);
	return answer_part(call, path);
}
