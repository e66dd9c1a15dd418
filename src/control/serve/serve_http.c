/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "serve/serve_request.h"

static void visitor_comes(struct serve_visitors *visitors, struct MHD_Connection *connection,
                          void **context)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct serve_visitor *visitor = calloc(1, sizeof(*visitor));

	*context = visitor;
	if (visitor == NULL || info == NULL)
		return;
	visitor->fd = info->connect_fd;
	visitor->until_ms = visitors->now_ms + SERVE_REQUEST_MS;
	visitor->next = visitors->first;
	visitor->at = &visitors->first;
	if (visitor->next != NULL)
		visitor->next->at = &visitor->next;
	visitors->first = visitor;
}

static void visitor_goes(struct serve_visitor *visitor)
{
	if (visitor == NULL)
		return;
	if (visitor->at != NULL)
		*visitor->at = visitor->next;
	if (visitor->next != NULL)
		visitor->next->at = visitor->at;
	free(visitor);
}

/* The callback of MHD_OPTION_NOTIFY_CONNECTION; its argument is the visitors. */
static void serve_visitor_notify(void *visitors, struct MHD_Connection *connection, void **context,
                                 enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		visitor_comes(visitors, connection, context);
	} else {
		visitor_goes(*context);
		*context = NULL;
	}
}

void serve_visitor_may(struct serve_visitors *visitors, struct MHD_Connection *connection,
                       uint64_t for_ms)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct serve_visitor *visitor = info != NULL ? info->socket_context : NULL;

	if (visitor != NULL)
		visitor->until_ms = for_ms == UINT64_MAX ? UINT64_MAX : visitors->now_ms + for_ms;
}

#define HEADERS_BYTES 32768

/* Admits a request, or answers why not and returns false. */
static bool admit(struct serve_call *call, const char *path, const char *method,
                  enum MHD_Result *result)
{
	const struct serve_http *http = call->http;
	const char *host = serve_call_header(call, "Host");

	if (!serve_host_is_ours(host, http->name))
		*result = serve_call_answer_line(call, MHD_HTTP_FORBIDDEN,
		                                 "this Host name is not accepted: use the address, "
		                                 "or start weir serve with --name NAME");
	else if (!serve_origin_is_ours(serve_call_header(call, "Origin"),
	                               serve_call_header(call, "Sec-Fetch-Site"), host) &&
	         strcmp(path, "/") != 0) /* any site may link to the page */
		*result = serve_call_answer_line(call, MHD_HTTP_FORBIDDEN,
		                                 "a page of another site may not request this");
	else if (strcmp(method, "POST") == 0 && http->token == NULL)
		*result = serve_call_answer_line(
		        call, MHD_HTTP_FORBIDDEN,
		        "changes are not allowed here: start weir serve with --allow-changes");
	else if (strcmp(method, "POST") == 0 &&
	         !serve_token_is_right(serve_call_header(call, "Authorization"), http->token))
		*result = serve_call_answer_line(call, MHD_HTTP_UNAUTHORIZED,
		                                 "the token is not the one that weir serve was "
		                                 "started with; send Authorization: Bearer TOKEN");
	else
		return true;
	return false;
}

/* Takes a part of the body. What is longer than a body may be is counted only: microhttpd permits
 * no answer before the end of the body. */
static enum MHD_Result take_body(struct serve_call *call, const char *bytes, size_t *n)
{
	size_t all = call->body_n + *n;

	if (all <= SERVE_CHANGE_BYTES_MAX) {
		char *grown = realloc(call->body, all);

		if (grown == NULL)
			return MHD_NO; /* the connection is closed */
		memcpy(grown + call->body_n, bytes, *n);
		call->body = grown;
	}
	call->body_n = all;
	*n = 0;
	return MHD_YES;
}

static enum MHD_Result handle(void *argument, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *bytes, size_t *n,
                              void **context)
{
	struct serve_call *call = *context;
	enum MHD_Result result = MHD_YES;

	(void)version;
	if (call == NULL) {
		call = *context = calloc(1, sizeof(*call));
		if (call == NULL)
			return MHD_NO;
		call->http = argument;
		call->connection = connection;
		admit(call, path, method, &result);
		return result;
	}
	if (*n > 0 && !call->refused)
		return take_body(call, bytes, n);
	*n = 0;
	return call->refused ? MHD_YES : serve_route(call, path, method);
}

static void completed(void *argument, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code)
{
	struct serve_call *call = *context;

	(void)code;
	*context = NULL;
	if (call == NULL)
		return;
	serve_visitor_may(&((struct serve_http *)argument)->visitors, connection, SERVE_REQUEST_MS);
	serve_ask_end(call->ask);
	free(call->body);
	free(call);
}

int serve_http_open(struct serve_http *http, int listen_fd)
{
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
	        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, http,
	        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listen_fd, MHD_OPTION_CONNECTION_LIMIT,
	        (unsigned)SERVE_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_IDLE_S,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_BYTES,
	        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, completed, http,
	        MHD_OPTION_NOTIFY_CONNECTION, serve_visitor_notify, &http->visitors,
	        MHD_OPTION_END);
	if (http->daemon == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	http->fd = info->epoll_fd;
	http->streams.feed = &http->feed;
	http->streams.changes = http->token != NULL;
	return 0;
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

bool serve_call_has_totals(const struct serve_call *call)
{
	const struct serve_feed *feed = &call->http->feed;

	return feed->totals != NULL && feed->totals_ms >= call->asked_ms;
}

/* Resumes the calls whose wait is over; or all. */
static void serve_calls_wake(struct serve_http *http, bool all)
{
	for (struct serve_call *call = http->waiting, *next; call != NULL; call = next) {
		next = call->next;
		if (all || http->now_ms >= call->until_ms ||
		    (call->ask != NULL ? call->ask->done
		                       : serve_call_has_totals(call) || !http->feed.asked))
			call_go_on(call);
	}
}

void serve_http_close(struct serve_http *http)
{
	if (http->daemon == NULL)
		return;
	/* From here on no connection may be suspended: microhttpd does not permit that while it
	 * stops. */
	http->ends = true;
	serve_streams_end(&http->streams);
	serve_calls_wake(http, true);
	MHD_run(http->daemon);
	MHD_quiesce_daemon(http->daemon);
	MHD_stop_daemon(http->daemon);
	http->daemon = NULL;
}

void serve_http_run(struct serve_http *http, uint64_t now_ms)
{
	http->now_ms = now_ms;
	/* Closes the connections whose time is over. */
	http->visitors.now_ms = now_ms;
	for (struct serve_visitor *visitor = http->visitors.first; visitor != NULL;
	     visitor = visitor->next) {
		if (now_ms < visitor->until_ms)
			continue;
		shutdown(visitor->fd, SHUT_RDWR); /* microhttpd sees the end, and closes it */
		visitor->until_ms = UINT64_MAX;
	}
	MHD_run(http->daemon);
	/* Queries that have just been made are sent to weir at once. */
	serve_asks_tick(&http->asks, now_ms);
	serve_calls_wake(http, false);
	http->resumed |= serve_streams_tick(&http->streams, now_ms);
	if (http->resumed) /* fd does not become readable for these */
		MHD_run(http->daemon);
	http->resumed = false;
}

int serve_http_timeout_ms(const struct serve_http *http)
{
	MHD_UNSIGNED_LONG_LONG wait;

	if (MHD_get_timeout(http->daemon, &wait) != MHD_YES || wait > 1000)
		return 1000;
	return (int)wait;
}

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
