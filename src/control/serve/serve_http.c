/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "machine/clock.h"

#define HEADERS_BYTES 32768
#define TEXT_TYPE     "text/plain; charset=utf-8"
/* More than weir itself takes: 53 s for its turn, its work and the workers. */
#define PATIENCE_S 60

uint64_t serve_now_ms(void)
{
	return clock_machine_ns() / SIMTIME_MS;
}

void serve_http_wait(struct serve_http *http, uint64_t for_ms)
{
	struct timespec until;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns = (uint64_t)until.tv_nsec + for_ms * SIMTIME_MS;
	until.tv_sec += (time_t)(ns / SIMTIME_S);
	until.tv_nsec = (long)(ns % SIMTIME_S);
	pthread_cond_timedwait(&http->news, &http->lock, &until);
}

/* ---- conversations with weir ---- */

int serve_conversation_open(struct serve_http *http, struct ctl_link *link, time_t patience_s,
                            char why[SERVE_ASK_WHY_BYTES])
{
	struct problem problem;
	int result = ctl_link_open(link, http->path, patience_s, &problem),
	    *place = http->conversations;

	if (result != 0) {
		snprintf(why, SERVE_ASK_WHY_BYTES, "%.*s", SERVE_ASK_WHY_BYTES - 1, problem.text);
		return result;
	}
	pthread_mutex_lock(&http->lock);
	if (http->ends)
		shutdown(link->fd, SHUT_RDWR);
	while (*place >= 0)
		place++;
	*place = link->fd;
	pthread_mutex_unlock(&http->lock);
	return 0;
}

void serve_conversation_close(struct serve_http *http, struct ctl_link *link)
{
	int *place = http->conversations;

	if (link->fd < 0)
		return;
	pthread_mutex_lock(&http->lock);
	while (*place != link->fd)
		place++;
	*place = -1;
	pthread_mutex_unlock(&http->lock);
	ctl_link_close(link);
}

int serve_ask_begin(struct serve_http *http, struct ctl_link *link, char why[SERVE_ASK_WHY_BYTES])
{
	int result = 0;

	*link = (struct ctl_link){.fd = -1};
	pthread_mutex_lock(&http->lock);
	if (http->n_asks == SERVE_ASKS_MOST) {
		pthread_mutex_unlock(&http->lock);
		snprintf(why, SERVE_ASK_WHY_BYTES, "too many requests; try again later");
		return -EBUSY;
	}
	http->n_asks++;
	while (http->n_asking == SERVE_ASKS && !http->ends)
		pthread_cond_wait(&http->news, &http->lock);
	if (http->ends)
		result = -ECANCELED;
	http->n_asking++;
	pthread_mutex_unlock(&http->lock);
	snprintf(why, SERVE_ASK_WHY_BYTES, "weir serve is shutting down");
	if (result == 0)
		result = serve_conversation_open(http, link, PATIENCE_S, why);
	if (result != 0)
		serve_ask_end(http, link);
	return result;
}

void serve_ask_end(struct serve_http *http, struct ctl_link *link)
{
	serve_conversation_close(http, link);
	pthread_mutex_lock(&http->lock);
	http->n_asks--;
	http->n_asking--;
	pthread_cond_broadcast(&http->news);
	pthread_mutex_unlock(&http->lock);
}

/* ---- connections ---- */

/* The callback of MHD_OPTION_NOTIFY_CONNECTION. */
static void visitor_notify(void *argument, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode code)
{
	struct serve_http *http = argument;
	struct serve_visitor *visitor = *context;

	pthread_mutex_lock(&http->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = visitor = calloc(1, sizeof(*visitor));
		if (visitor != NULL) {
			visitor->fd = MHD_get_connection_info(connection,
			                                      MHD_CONNECTION_INFO_CONNECTION_FD)
			                      ->connect_fd;
			visitor->until_ms = serve_now_ms() + SERVE_REQUEST_MS;
			visitor->next = http->visitors;
			visitor->at = &http->visitors;
			if (visitor->next != NULL)
				visitor->next->at = &visitor->next;
			http->visitors = visitor;
		}
	} else if (visitor != NULL) {
		*visitor->at = visitor->next;
		if (visitor->next != NULL)
			visitor->next->at = visitor->at;
		free(visitor);
		*context = NULL;
	}
	pthread_mutex_unlock(&http->lock);
}

void serve_visitor_may(struct serve_http *http, struct MHD_Connection *connection, uint64_t for_ms)
{
	struct serve_visitor *visitor =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	                ->socket_context;

	pthread_mutex_lock(&http->lock);
	if (visitor != NULL)
		visitor->until_ms = for_ms == UINT64_MAX ? UINT64_MAX : serve_now_ms() + for_ms;
	pthread_mutex_unlock(&http->lock);
}

void serve_http_tick(struct serve_http *http)
{
	pthread_mutex_lock(&http->lock);
	for (struct serve_visitor *visitor = http->visitors; visitor != NULL;
	     visitor = visitor->next) {
		if (serve_now_ms() < visitor->until_ms)
			continue;
		shutdown(visitor->fd, SHUT_RDWR); /* microhttpd sees the end, and closes it */
		visitor->until_ms = UINT64_MAX;
	}
	pthread_mutex_unlock(&http->lock);
}

/* ---- requests ---- */

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
	serve_visitor_may(argument, connection, SERVE_REQUEST_MS);
	free(call->body);
	free(call);
}

int serve_http_open(struct serve_http *http, int listen_fd)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&http->news, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&http->lock, NULL);
	memset(http->conversations, -1, sizeof(http->conversations));
	if (pthread_create(&http->follower, NULL, serve_feed_run, http) != 0)
		return -EAGAIN;
	http->daemon = MHD_start_daemon(
	        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL,
	        NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listen_fd,
	        MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS,
	        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_IDLE_S,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_BYTES,
	        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, completed, http,
	        MHD_OPTION_NOTIFY_CONNECTION, visitor_notify, http, MHD_OPTION_END);
	if (http->daemon != NULL)
		return 0;
	serve_http_close(http);
	return -EAGAIN;
}

void serve_http_close(struct serve_http *http)
{
	pthread_mutex_lock(&http->lock);
	http->ends = true;
	for (size_t i = 0; i < sizeof(http->conversations) / sizeof(int); i++)
		shutdown(http->conversations[i], SHUT_RDWR);
	pthread_cond_broadcast(&http->news);
	pthread_mutex_unlock(&http->lock);
	pthread_join(http->follower, NULL);
	if (http->daemon != NULL) {
		MHD_quiesce_daemon(http->daemon);
		MHD_stop_daemon(http->daemon);
	}
	pthread_cond_destroy(&http->news);
	pthread_mutex_destroy(&http->lock);
}

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
	serve_visitor_may(call->http, call->connection, SERVE_ANSWER_MS);
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
