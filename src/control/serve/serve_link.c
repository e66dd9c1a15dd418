/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket/socket.h"

#define READ_BYTES 65536

int serve_link_open(struct serve_link *link, const char *path, struct problem *problem)
{
	char usual[SOCKET_PATH_BYTES];

	*link = (struct serve_link){.fd = -1};
	socket_client_path(usual);
	link->fd = socket_connect_at_once(path != NULL ? path : usual, problem);
	if (link->fd < 0) {
		int result = link->fd;

		link->fd = -1;
		return result;
	}
	return 0;
}

void serve_link_close(struct serve_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	free(link->in);
	free(link->out);
	*link = (struct serve_link){.fd = -1};
}

static int make_room(char **bytes, size_t *room, size_t wanted)
{
	size_t more = *room * 2 > wanted ? *room * 2 : wanted;
	char *grown;

	if (wanted <= *room)
		return 0;
	if (wanted > SERVE_LINK_BYTES_MAX)
		return -EMSGSIZE;
	grown = realloc(*bytes, more);
	if (grown == NULL)
		return -ENOMEM;
	*bytes = grown;
	*room = more;
	return 0;
}

bool serve_link_wants_to_write(const struct serve_link *link)
{
	return link->out_n > 0;
}

int serve_link_write(struct serve_link *link)
{
	while (link->out_n > 0) {
		ssize_t n = send(link->fd, link->out, link->out_n, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		link->out_n -= (size_t)n;
		memmove(link->out, link->out + n, link->out_n);
	}
	return 0;
}

int serve_link_send(struct serve_link *link, const char *bytes, size_t n)
{
	int result = make_room(&link->out, &link->out_room, link->out_n + n);

	if (result != 0)
		return result;
	memcpy(link->out + link->out_n, bytes, n);
	link->out_n += n;
	return serve_link_write(link);
}

/* Takes the complete lines. The new bytes begin at `from`; there is no line end before them. */
static void take_lines(struct serve_link *link, size_t from,
                       void (*take)(void *argument, char *line, size_t n), void *argument)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(link->in + from, '\n', link->in_n - from)) != NULL) {
		*end = '\0';
		take(argument, link->in + at, (size_t)(end - link->in) - at);
		at = from = (size_t)(end - link->in) + 1;
	}
	link->in_n -= at;
	memmove(link->in, link->in + at, link->in_n);
}

int serve_link_read(struct serve_link *link, void (*take)(void *argument, char *line, size_t n),
                    void *argument)
{
	for (;;) {
		int result = make_room(&link->in, &link->in_room, link->in_n + READ_BYTES);
		size_t before = link->in_n;
		ssize_t n;

		if (result != 0)
			return result;
		n = recv(link->fd, link->in + before, link->in_room - before, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == 0)
			return -ECONNRESET;
		link->in_n += (size_t)n;
		take_lines(link, before, take, argument);
	}
}
