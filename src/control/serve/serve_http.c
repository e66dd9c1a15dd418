/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_request.h"
#include "serve/serve_route.h"

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
	serve_visitors_tick(&http->visitors, now_ms);
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
