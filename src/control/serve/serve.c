/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine/run_log.h"
#include "scenario/problem.h"
#include "serve/serve_http.h"
#include "socket/socket.h"

/*
 * The address for browsers: `127.0.0.1:9470`, `[::1]:9470`, `localhost:9470`, or `unix:PATH`, a
 * socket of mode 0660. Port 0: any free port.
 *
 * Thread: the main thread.
 */

struct serve_listen {
	int fd;
	bool is_unix, loopback;
	struct socket_listener listener; /* if is_unix */
	char url[160];                   /* for a browser */
};

#define BACKLOG 512

union place {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static bool read_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || n > 65535)
		return false;
	*port = htons((uint16_t)n);
	return true;
}

/* Parses `ADDRESS:PORT` or `[ADDRESS]:PORT`. */
static bool read_place(const char *where, union place *place)
{
	const char *colon = strrchr(where, ':');
	char address[64];
	size_t n = colon != NULL ? (size_t)(colon - where) : 0;

	memset(place, 0, sizeof(*place));
	if (n == 0 || n >= sizeof(address))
		return false;
	memcpy(address, where, n);
	address[n] = '\0';
	if (strcmp(address, "localhost") == 0)
		strcpy(address, "127.0.0.1");
	if (address[0] == '[' && address[n - 1] == ']') {
		address[n - 1] = '\0';
		place->in6.sin6_family = AF_INET6;
		return inet_pton(AF_INET6, address + 1, &place->in6.sin6_addr) == 1 &&
		       read_port(colon + 1, &place->in6.sin6_port);
	}
	place->in.sin_family = AF_INET;
	return inet_pton(AF_INET, address, &place->in.sin_addr) == 1 &&
	       read_port(colon + 1, &place->in.sin_port);
}

static bool is_loopback(const union place *place)
{
	if (place->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&place->in6.sin6_addr);
	return ntohl(place->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static void name_place(struct serve_listen *listen)
{
	char text[INET6_ADDRSTRLEN];
	union place place;
	socklen_t n = sizeof(place);

	memset(&place, 0, sizeof(place));
	getsockname(listen->fd, &place.any, &n);
	if (place.any.sa_family == AF_INET6)
		snprintf(listen->url, sizeof(listen->url), "http://[%s]:%u/",
		         inet_ntop(AF_INET6, &place.in6.sin6_addr, text, sizeof(text)),
		         ntohs(place.in6.sin6_port));
	else
		snprintf(listen->url, sizeof(listen->url), "http://%s:%u/",
		         inet_ntop(AF_INET, &place.in.sin_addr, text, sizeof(text)),
		         ntohs(place.in.sin_port));
}

static int open_unix(struct serve_listen *listen, const char *path, struct problem *problem)
{
	int result = socket_listen(path, NULL, &listen->listener, problem);

	if (result != 0)
		return result;
	listen->is_unix = listen->loopback = true;
	listen->fd = listen->listener.fd;
	snprintf(listen->url, sizeof(listen->url), "unix:%s", path);
	return 0;
}

/* Returns 0, or -errno with problem; -EINVAL: `where` is no address. */
static int serve_listen_open(struct serve_listen *serve, const char *where, struct problem *problem)
{
	union place place;
	int yes = 1, error;

	*serve = (struct serve_listen){.fd = -1};
	if (strncmp(where, "unix:", 5) == 0)
		return open_unix(serve, where + 5, problem);
	if (!read_place(where, &place))
		return problem_set(problem, -1,
		                   "--listen `%.80s` is not an address with a port; write one like "
		                   "127.0.0.1:9470, [::1]:9470 or unix:/run/weir-serve.sock",
		                   where);
	serve->fd = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve->fd >= 0)
		setsockopt(serve->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (serve->fd < 0 || bind(serve->fd, &place.any, sizeof(place)) != 0 ||
	    listen(serve->fd, BACKLOG) != 0) {
		error = errno;
		problem_set(problem, -1, "--listen %.80s: %s%s", where, strerror(error),
		            error == EADDRINUSE ? "; something listens there; choose another port"
		                                : "");
		if (serve->fd >= 0)
			close(serve->fd);
		serve->fd = -1;
		return -error;
	}
	serve->loopback = is_loopback(&place);
	name_place(serve);
	return 0;
}

#define TOKEN_LEAST     16
#define TOKEN_MOST      255
#define TOKEN_BYTES     (TOKEN_MOST + 1)
#define TOKEN_WHY_BYTES 100

/* ---- the token ---- */

static bool draw_token(char token[TOKEN_BYTES])
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

/* Reads the first line of the file, up to the first blank. Returns false with `why`. */
static bool read_token(FILE *in, char token[TOKEN_BYTES], char why[TOKEN_WHY_BYTES])
{
	static const char blanks[] = " \t\r\n";
	bool read = fgets(token, TOKEN_BYTES, in) != NULL;
	size_t n = read ? strcspn(token, blanks) : 0;
	int next = n == TOKEN_MOST ? fgetc(in) : EOF;

	if (ferror(in))
		snprintf(why, TOKEN_WHY_BYTES, "%s", strerror(errno));
	else if (next != EOF && strchr(blanks, next) == NULL)
		snprintf(why, TOKEN_WHY_BYTES, "its first line has more than %d characters",
		         TOKEN_MOST);
	else if (n < TOKEN_LEAST)
		snprintf(why, TOKEN_WHY_BYTES, "its first line has fewer than %d characters",
		         TOKEN_LEAST);
	else
		why[0] = '\0';
	token[n] = '\0';
	return why[0] == '\0';
}

static bool token_from_file(const char *path, char token[TOKEN_BYTES])
{
	FILE *in = fopen(path, "re");
	char why[TOKEN_WHY_BYTES];
	bool right;

	if (in == NULL) {
		run_log(RUN_LOG_ERROR, "--token-file %s: %s", path, strerror(errno));
		return false;
	}
	right = read_token(in, token, why);
	fclose(in);
	if (!right)
		run_log(RUN_LOG_ERROR, "--token-file %s: %s", path, why);
	return right;
}

static bool make_token(const struct serve_options *options, char token[TOKEN_BYTES])
{
	if (options->token_file != NULL)
		return token_from_file(options->token_file, token);
	if (draw_token(token))
		return true;
	run_log(RUN_LOG_ERROR, "cannot draw a random token; give --token-file FILE");
	return false;
}

/* ---- messages at the start ---- */

static void introduce(const struct serve_options *options, const struct serve_listen *listen,
                      const char *token)
{
	printf("weir serve: %s\n", listen->url);
	if (options->allow_changes && options->token_file == NULL)
		printf("weir serve: to change what runs: %s#token=%s\n", listen->url, token);
	fflush(stdout);
	if (!listen->loopback)
		run_log(RUN_LOG_WARNING,
		        "warning: anyone who reaches this address, or listens on the way, sees "
		        "everything%s: put a proxy with TLS and passwords in front of it",
		        options->allow_changes ? ", and can change it with the token" : "");
}

int serve_run(const struct serve_options *options)
{
	const struct timespec second = {.tv_sec = 1};
	struct serve_http *http = calloc(1, sizeof(*http));
	struct serve_listen listen = {.fd = -1};
	char token[TOKEN_BYTES] = "";
	struct problem problem;
	sigset_t ends;
	int result, status = 1;

	if (http == NULL || !serve_feed_begin(&http->feed)) {
		run_log(RUN_LOG_ERROR, "no memory");
		goto out;
	}
	if (options->allow_changes && !make_token(options, token))
		goto out;
	http->feed.interval_ns = options->interval_ns;
	http->feed.clouds = options->clouds;
	http->path = options->socket;
	http->name = options->name;
	http->token = options->allow_changes ? token : NULL;
	serve_explain_init(&http->explain, options->socket);
	/* No thread takes these signals but this one, which waits for them. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	result = serve_listen_open(&listen, options->listen, &problem);
	if (result != 0) {
		run_log(RUN_LOG_ERROR, "%s", problem.text);
		status = result == -EINVAL ? 2 : 1;
		goto out;
	}
	result = serve_http_open(http, listen.fd);
	if (result == 0) {
		introduce(options, &listen, token);
		while (sigtimedwait(&ends, NULL, &second) < 0)
			serve_http_tick(http);
		pthread_sigmask(SIG_UNBLOCK, &ends, NULL); /* the second one ends the process */
		serve_http_close(http);
		serve_explain_end(&http->explain);
		status = 0;
	} else {
		run_log(RUN_LOG_ERROR, "HTTP cannot be served: %s", strerror(-result));
	}
	if (listen.is_unix)
		socket_unlisten(&listen.listener);
	else if (listen.fd >= 0)
		close(listen.fd);
out:
	if (http != NULL)
		serve_feed_end(&http->feed);
	free(http);
	return status;
}
