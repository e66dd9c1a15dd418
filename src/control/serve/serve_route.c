/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths that are served, and the function that answers each; what weir answers to a query or a
 * change, for a browser.
 */
#include "serve/serve_http.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/theme.h"
#include "serve/serve.h"
#include "serve/serve_request.h"
#include "text/alloc_failure.h"

static const struct {
	const char *path, *name, *type;
} parts[] = {
        {"/", "page", "text/html; charset=utf-8"},
        {"/style.css", "style", "text/css; charset=utf-8"},
        {"/chart.js", "chart", "text/javascript; charset=utf-8"},
        {"/table.js", "table", "text/javascript; charset=utf-8"},
        {"/live.js", "live", "text/javascript; charset=utf-8"},
        {"/change.js", "change", "text/javascript; charset=utf-8"},
        {"/explain.js", "explain", "text/javascript; charset=utf-8"},
        {"/icon.svg", "icon", "image/svg+xml"},
};

/* Returns the part at a path, and its type; NULL if there is none. */
static const struct embedded_text *serve_part_find(const char *path, const char **type)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].path, path) != 0)
			continue;
		*type = parts[i].type;
		for (const struct embedded_text *text = serve_texts; text->name != NULL; text++)
			if (strcmp(text->name, parts[i].name) == 0)
				return text;
	}
	return NULL;
}

static char *object_text(json_t *object)
{
	char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	return text;
}

/* Returns the line that weir names in the error of `commit`, as in `down: line 2: ...`; 0: none. */
static uint32_t line_named(const char *error)
{
	const char *colon = strstr(error, ": ");

	return colon != NULL && strncmp(colon, ": line ", 7) == 0
	               ? (uint32_t)strtoul(colon + 7, NULL, 10)
	               : 0;
}

/* Sends a line to weir, and waits for its answer. Returns 0, or -errno with `why`. */
static int ask_line(struct serve_http *http, struct ctl_link *link, const char *line,
                    struct ctl_answer *answer, char why[SERVE_ASK_WHY_BYTES])
{
	/* Files that it names are weir's to open. */
	int result = ctl_link_ask_with(link, line, -1, answer);

	if (result != 0)
		snprintf(why, SERVE_ASK_WHY_BYTES, "%s; weir's events show what is in force",
		         http->ends             ? "weir serve is shutting down"
		         : result == -ETIMEDOUT ? "weir does not answer"
		                                : "weir hung up before it answered");
	return result;
}

/* Sends the lines of a change, until one is wrong. Returns the answer for the browser:
 *
 *   {"ok":true,"sent":["begin","cloud down delay 80ms","commit"],"said":"..."}
 *   {"ok":false,"sent":[...],"error":"dwon: there is no ...","line":1}
 *
 * `line`: the number of the change in error, from 1; 0: none of them. Returns NULL if too many
 * wait. */
static json_t *send_change(struct serve_call *call, json_t *lines)
{
	const size_t n = json_array_size(lines);
	struct ctl_answer answer = {.ok = true};
	char why[SERVE_ASK_WHY_BYTES];
	struct ctl_link link;
	json_t *object;
	uint32_t line = 0;
	int result = serve_ask_begin(call->http, &link, why);
	const bool begun = result == 0;

	if (result == -EBUSY)
		return NULL;
	for (size_t i = 0; i < n && result == 0 && answer.ok; i++) {
		ctl_answer_release(&answer);
		result = ask_line(call->http, &link, json_string_value(json_array_get(lines, i)),
		                  &answer, why);
		if (result == 0 && !answer.ok)
			line = i + 1 < n ? (uint32_t)i : line_named(answer.error);
	}
	if (result == 0 && answer.ok)
		object = json_pack("{s:O,s:b,s:s}", "sent", lines, "ok", 1, "said", answer.body);
	else
		object = json_pack("{s:O,s:b,s:s,s:i}", "sent", lines, "ok", 0, "error",
		                   result == 0 ? answer.error : why, "line", (int)line);
	if (begun)
		serve_ask_end(call->http, &link);
	ctl_answer_release(&answer);
	return object;
}

#define TOO_LARGE     413 /* the names of both in microhttpd depend on the version */
#define UNPROCESSABLE 422
#define JSON_TYPE     "application/json"
#define TEXT_TYPE     "text/plain; charset=utf-8"

static enum MHD_Result get_metrics(struct serve_call *call)
{
	bool openmetrics = serve_wants_openmetrics(serve_call_header(call, "Accept"));
	json_t *hello, *totals = serve_feed_totals(call->http, &hello);
	size_t n;
	char *text = serve_metrics_text(totals, hello, openmetrics, &n);

	json_decref(totals);
	json_decref(hello);
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
	response = serve_stream_open(call->http, live,
	                             last != NULL || asked_from != NULL ? &from : NULL);
	if (response == NULL)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
		                              "too many listeners; try again later");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	result = serve_call_answer(call, MHD_HTTP_OK, response);
	serve_visitor_may(call->http, call->connection, UINT64_MAX);
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

/* Answers with the text that weir answers to a line. */
static enum MHD_Result answer_of_weir(struct serve_call *call, const char *line)
{
	struct ctl_answer answer;
	char why[SERVE_ASK_WHY_BYTES], *text;
	struct ctl_link link;
	bool ok;

	if (serve_ask_begin(call->http, &link, why) != 0)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE, why);
	ok = ask_line(call->http, &link, line, &answer, why) == 0;
	serve_ask_end(call->http, &link);
	if (!ok)
		return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE, why);
	ok = answer.ok;
	text = strdup(ok ? answer.body : answer.error);
	ctl_answer_release(&answer);
	return serve_call_answer_bytes(call, ok ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, TEXT_TYPE, text,
	                               text != NULL ? strlen(text) : 0);
}

static enum MHD_Result get_cloud(struct serve_call *call)
{
	const char *name = serve_call_query(call, "name");
	char line[300];

	if (name == NULL || !serve_cloud_line(name, line, sizeof(line)))
		return serve_call_answer_line(
		        call, MHD_HTTP_BAD_REQUEST,
		        "`name` must be the name of a cloud: /cloud?name=down");
	return answer_of_weir(call, line);
}

static enum MHD_Result get_scenario(struct serve_call *call)
{
	return answer_of_weir(call, "show config");
}

static enum MHD_Result get_connections(struct serve_call *call)
{
	char *text = serve_explain_text(&call->http->explain);

	return text == NULL
	               ? MHD_NO
	               : serve_call_answer_bytes(call, MHD_HTTP_OK, JSON_TYPE, text, strlen(text));
}

static enum MHD_Result get_theme(struct serve_call *call)
{
	struct printed text;

	theme_write(printed_begin(&text));
	printed_end(&text);
	return serve_call_answer_bytes(call, MHD_HTTP_OK, "text/css", text.bytes, text.n);
}

static enum MHD_Result post_change(struct serve_call *call)
{
	char why[SERVE_WHY_BYTES], *text;
	uint32_t line;
	json_t *lines, *object;
	unsigned status = UNPROCESSABLE;

	lines = serve_change_conversation(call->body != NULL ? call->body : "", call->body_n,
	                                  serve_call_query(call, "lease"), &line, why);
	if (lines != NULL) {
		object = send_change(call, lines);
		json_decref(lines);
		if (object == NULL)
			return serve_call_answer_line(call, MHD_HTTP_SERVICE_UNAVAILABLE,
			                              "too many requests; try again later");
	} else {
		object = json_pack("{s:b,s:[],s:s,s:I}", "ok", 0, "sent", "error", why, "line",
		                   (json_int_t)line);
		if (call->body_n > SERVE_CHANGE_BYTES_MAX)
			status = TOO_LARGE;
	}
	if (json_is_true(json_object_get(object, "ok")))
		status = MHD_HTTP_OK;
	text = object_text(object);
	return serve_call_answer_bytes(call, status, JSON_TYPE, text,
	                               text != NULL ? strlen(text) : 0);
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
        {"/connections", "GET", get_connections, get_connections},
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
		        "not found; there are /, /metrics, /events, /live, /scenario, "
		        "/connections and /cloud?name=NAME");
	response = MHD_create_response_from_buffer(part->bytes, (void *)(uintptr_t)part->text,
	                                           MHD_RESPMEM_PERSISTENT);
	if (response != NULL)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return serve_call_answer(call, MHD_HTTP_OK, response);
}

enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method)
{
	const bool heads = strcmp(method, "HEAD") == 0;

	serve_visitor_may(call->http, call->connection, UINT64_MAX); /* until it is answered */
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
