/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket/socket.h"
#include "text/array.h"

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
	if (wanted > SERVE_LINK_BYTES_MAX)
		return -EMSGSIZE;
	return array_fits(bytes, room, wanted, 1) ? 0 : -ENOMEM;
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

char *serve_link_line(struct serve_link *link, size_t *n)
{
	char *line = link->in + link->at, *end;

	end = memchr(link->in + link->seen, '\n', link->in_n - link->seen);
	if (end == NULL) {
		link->in_n -= link->at;
		memmove(link->in, line, link->in_n);
		link->at = 0;
		link->seen = link->in_n;
		return NULL;
	}
	*end = '\0';
	*n = (size_t)(end - line);
	link->at = link->seen = (size_t)(end - link->in) + 1;
	return line;
}

int serve_link_read(struct serve_link *link)
{
	int result = make_room(&link->in, &link->in_room, link->in_n + READ_BYTES);
	ssize_t n;

	if (result != 0)
		return result;
	do
		n = recv(link->fd, link->in + link->in_n, link->in_room - link->in_n, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	link->in_n += (size_t)n;
	return 1;
}

/* More than weir itself takes: 53 s for its turn, its work and the workers (pending.h). */
#define PATIENCE_MS  60000
#define ANSWER_BYTES ((size_t)1 << 20)

struct serve_ask *serve_ask_begin(struct serve_asks *asks, char *lines, uint64_t now_ms)
{
	struct serve_ask *ask = NULL, **last = &asks->first;

	if (asks->n < SERVE_ASKS_MOST)
		ask = calloc(1, sizeof(*ask));
	if (ask == NULL) {
		free(lines);
		return NULL;
	}
	ask->among = asks;
	ask->lines = lines;
	ask->link.fd = -1;
	ask->until_ms = now_ms + PATIENCE_MS;
	while (*last != NULL)
		last = &(*last)->next;
	*last = ask;
	asks->n++;
	return ask;
}

void serve_ask_end(struct serve_ask *ask)
{
	if (ask == NULL)
		return;
	for (struct serve_ask **at = &ask->among->first; *at != NULL; at = &(*at)->next) {
		if (*at == ask) {
			*at = ask->next;
			ask->among->n--;
			break;
		}
	}
	serve_link_close(&ask->link);
	free(ask->lines);
	free(ask->answer);
	free(ask);
}

static void take_line(struct serve_ask *ask, const char *line, size_t n)
{
	char *grown = NULL;

	if (ask->why[0] != '\0')
		return;
	if (ask->answer_n + n + 2 <= ANSWER_BYTES)
		grown = realloc(ask->answer, ask->answer_n + n + 2);
	if (grown == NULL) {
		snprintf(ask->why, sizeof(ask->why), "the answer of weir is too long");
		return;
	}
	memcpy(grown + ask->answer_n, line, n);
	ask->answer = grown;
	ask->answer_n += n + 1;
	grown[ask->answer_n - 1] = '\n';
	grown[ask->answer_n] = '\0';
}

static void ask_done(struct serve_ask *ask, const char *why)
{
	if (why != NULL)
		snprintf(ask->why, sizeof(ask->why), "%.*s", (int)sizeof(ask->why) - 1, why);
	else if (ask->answer == NULL && ask->why[0] == '\0')
		snprintf(ask->why, sizeof(ask->why), "weir hung up without an answer");
	serve_link_close(&ask->link);
	ask->done = true;
}

static void ask_start(struct serve_ask *ask)
{
	struct problem problem;

	ask->begun = true;
	if (serve_link_open(&ask->link, ask->among->path, &problem) != 0)
		ask_done(ask, problem.text);
	else if (serve_link_send(&ask->link, ask->lines, strlen(ask->lines)) != 0 ||
	         serve_link_send(&ask->link, "quit\n", 5) != 0)
		ask_done(ask, "weir hung up");
}

static void ask_go_on(struct serve_ask *ask, uint64_t now_ms)
{
	int result = serve_link_write(&ask->link);
	char *line;
	size_t n;

	while (result == 0 && (result = serve_link_read(&ask->link)) == 1) {
		while ((line = serve_link_line(&ask->link, &n)) != NULL)
			take_line(ask, line, n);
		result = 0;
	}
	if (result == -ECONNRESET)
		ask_done(ask, NULL); /* after `quit` it hangs up */
	else if (result != 0)
		ask_done(ask, strerror(-result));
	else if (now_ms > ask->until_ms)
		ask_done(ask, "weir does not answer");
}

void serve_asks_tick(struct serve_asks *asks, uint64_t now_ms)
{
	uint32_t under_way = 0;

	for (struct serve_ask *ask = asks->first, *next; ask != NULL; ask = next) {
		next = ask->next;
		if (ask->done)
			continue;
		if (!ask->begun && under_way < SERVE_ASKS)
			ask_start(ask);
		else if (ask->begun)
			ask_go_on(ask, now_ms);
		under_way += ask->begun && !ask->done;
	}
}

uint32_t serve_asks_poll(const struct serve_asks *asks, struct pollfd *polled)
{
	uint32_t n = 0;

	for (const struct serve_ask *ask = asks->first; ask != NULL && n < SERVE_ASKS;
	     ask = ask->next)
		if (ask->begun && !ask->done)
			polled[n++] = (struct pollfd){
			        .fd = ask->link.fd,
			        .events = (short)(POLLIN |
			                          (serve_link_wants_to_write(&ask->link) ? POLLOUT
			                                                                 : 0))};
	return n;
}
