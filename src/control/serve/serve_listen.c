/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

int serve_listen_open(struct serve_listen *serve, const char *where, struct problem *problem)
{
	union place place;
	int yes = 1, error;

	*serve = (struct serve_listen){.fd = -1};
	if (strncmp(where, "unix:", 5) == 0)
		return open_unix(serve, where + 5, problem);
	if (!read_place(where, &place)) {
		problem_set(problem, -1,
		            "--listen `%.80s` is not an address with a port; write one like "
		            "127.0.0.1:9470, [::1]:9470 or unix:/run/weir-serve.sock",
		            where);
		return -EINVAL;
	}
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

void serve_listen_close(struct serve_listen *serve)
{
	if (serve->is_unix)
		socket_unlisten(&serve->listener);
	else if (serve->fd >= 0)
		close(serve->fd);
	serve->fd = -1;
}
