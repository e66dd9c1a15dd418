/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths that are served, and the function that answers each; what weir answers to a query or a
 * change, for a browser.
 */
#include "serve/serve_http.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/theme.h"
#include "serve/serve_metrics.h"
#include "serve/serve_request.h"
#include "service/answer.h"

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

/* Returns the end of a line: its newline, or the end of the text. */
static const char *line_end(const char *line)
{
	const char *end = strchr(line, '\n');

	return end != NULL ? end : line + strlen(line);
}

/* Extracts an answer in text mode, without its last line. Returns false if it is an error; *text is
 * the error then. The caller frees *text; NULL: no memory. */
static bool serve_change_text(const char *answer, char **text, size_t *n)
{
	const char *line = answer, *end = line_end(line);

	while (*line != '\0' && !answer_is_end(line, (size_t)(end - line))) {
		line = *end != '\0' ? end + 1 : end;
		end = line_end(line);
	}
	if (strncmp(line, "err ", 4) == 0) {
		*n = (size_t)(end - line) - 4;
		*text = strndup(line + 4, *n);
		return false;
	}
	*n = (size_t)(line - answer);
	*text = strndup(answer, *n);
	return true;
}

/* Finds the answer to the n-th line sent, from 0. `body` has `body_n` bytes; behind those of an
 * error follows its newline. Returns false if there is no such answer. */
static bool answer_at(const char *answer, uint32_t n, bool *ok, const char **body, size_t *body_n)
{
	const char *line = answer, *from = answer;

	while (line != NULL && *line != '\0') {
		const char *end = line_end(line);
		size_t length = (size_t)(end - line);

		if (answer_is_end(line, length)) {
			*ok = line[0] == 'o';
			*body = *ok ? from : line + 4;
			*body_n = *ok ? (size_t)(line - from) : length - 4;
			if (n-- == 0)
				return true;
			from = *end != '\0' ? end + 1 : end;
		}
		line = *end != '\0' ? end + 1 : NULL;
	}
	return false;
}

static json_t *sent_lines(const char *lines)
{
	json_t *array = json_array();

	while (*lines != '\0') {
		const char *end = line_end(lines);

		json_array_append_new(array, json_stringn(lines, (size_t)(end - lines)));
		lines = *end != '\0' ? end + 1 : end;
	}
	return array;
}

static char *object_text(json_t *object)
{
	char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	return text;
}

/* Returns the line that weir names in the error of `commit`, as in `down: line 2: ...`; 0: none. */
static uint32_t line_named(const char *error, size_t n)
{
	const char *colon = memmem(error, n, ": ", 2);

	return colon != NULL && strncmp(colon, ": line ", 7) == 0
	               ? (uint32_t)strtoul(colon + 7, NULL, 10)
	               : 0;
}

/* Returns the result of serve_change_conversation, with n_lines lines:
 *
 *   {"ok":true,"sent":["begin","cloud down delay 80ms","commit"],"said":"..."}
 *   {"ok":false,"sent":[...],"error":"dwon: there is no ...","line":1}
 *
 * `line`: the number of the change in error, from 1; 0: none of them. The caller frees the text;
 * NULL: no memory. */
static char *serve_change_answer(const struct serve_ask *ask, uint32_t n_lines, bool *ok)
{
	json_t *object = json_pack("{s:o}", "sent", sent_lines(ask->lines));
	const char *body = "", *error = ask->why[0] != '\0' ? ask->why : NULL;
	size_t body_n = 0, error_n = error != NULL ? strlen(error) : 0;
	uint32_t line = 0, n = n_lines + 2;
	bool right = true;

	/* The first answer in error says why. */
	for (uint32_t i = 0; i < n && error == NULL && ask->answer != NULL; i++) {
		if (!answer_at(ask->answer, i, &right, &body, &body_n)) {
			error = "weir hung up before it answered; its events show what is in force";
			error_n = strlen(error);
		} else if (!right) {
			error = body;
			error_n = body_n;
			line = i <= n_lines ? i : line_named(body, body_n);
		}
	}
	if (error == NULL && !ask->done) {
		error = "weir serve is shutting down; weir's events show what is in force";
		error_n = strlen(error);
	}
	*ok = error == NULL;
	json_object_set_new(object, "ok", json_boolean(*ok));
	if (*ok) {
		json_object_set_new(object, "said", json_stringn(body, body_n));
	} else {
		json_object_set_new(object, "error", json_stringn(error, error_n));
		json_object_set_new(object, "line", json_integer(line));
	}
	return object_text(object);
}

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

	call->ask = serve_ask_begin(&http->asks, lines, http->now_ms);
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

static enum MHD_Result get_connections(struct serve_call *call)
{
	char *text = serve_explain_text(&call->http->explain, call->http->now_ms);

	return text == NULL
	               ? MHD_NO
	               : serve_call_answer_bytes(call, MHD_HTTP_OK, JSON_TYPE, text, strlen(text));
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
	text = object_text(json_pack("{s:b,s:[],s:s,s:I}", "ok", 0, "sent", "error", why, "line",
	                             (json_int_t)call->n_lines));
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
