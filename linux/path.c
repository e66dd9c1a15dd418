/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "path.h"

#define ANSWER_BYTES_MAX 65536 /* 64 routers take less than 16 KiB */
#define ANSWER_TIMEOUT_S 10

static int failed(struct path *path, int result, const char *what, const char *detail)
{
	snprintf(path->error, sizeof(path->error), "%s: %s", what, detail);
	return result;
}

static int path_send(struct path *path, const char *line)
{
	size_t n = strlen(line);

	while (n > 0) {
		ssize_t sent = send(path->fd, line, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return failed(path, -errno, "weir has gone", strerror(errno));
		line += sent;
		n -= (size_t)sent;
	}
	return 0;
}

/* Receives a line, and replaces its LF by 0. Each command has one answer, so nothing follows the
 * line. */
static int path_receive(struct path *path, char answer[ANSWER_BYTES_MAX])
{
	size_t n = 0;

	while (n == 0 || answer[n - 1] != '\n') {
		ssize_t got;

		if (n == ANSWER_BYTES_MAX)
			return failed(path, -EPROTO, "weir's answer", "is too long");
		got = recv(path->fd, answer + n, ANSWER_BYTES_MAX - n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return failed(path, got < 0 ? -errno : -ECONNRESET, "weir has gone",
			              got < 0 ? strerror(errno) : "it has closed the connection");
		n += (size_t)got;
	}
	answer[n - 1] = '\0';
	return 0;
}

int path_open(struct path *path, const char *socket_path)
{
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char answer[ANSWER_BYTES_MAX];
	int result;

	path->fd = -1;
	if (strlen(socket_path) >= sizeof(address.sun_path))
		return failed(path, -ENAMETOOLONG, "the path of weir's socket", "is too long");
	strcpy(address.sun_path, socket_path);
	path->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (path->fd < 0)
		return failed(path, -errno, "a socket cannot be created", strerror(errno));
	setsockopt(path->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(path->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(path->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		result = failed(path, -errno, socket_path, strerror(errno));
	else if ((result = path_send(path, "json on\n")) == 0)
		result = path_receive(path, answer);
	if (result != 0)
		path_close(path);
	return result;
}

void path_close(struct path *path)
{
	if (path->fd >= 0)
		close(path->fd);
	path->fd = -1;
}

/* Lowers *figure to that of a hop. Clears *known if the router has not reported this figure. */
static void least(uint32_t *figure, const json_t *hop, const char *key, bool *known)
{
	const json_t *value = json_object_get(hop, key);
	json_int_t number;

	if (!json_is_integer(value)) {
		*known = false;
		return;
	}
	number = json_integer_value(value);
	/* 0 means unknown. */
	if (number < 1)
		number = 1;
	if (*figure == 0 || number < *figure)
		*figure = (uint32_t)number;
}

int path_read(struct path *path, const char *answer, uint32_t fresh_ms,
              struct path_figures *figures)
{
	bool available_known = true, queue_known = true;
	json_t *root = json_loads(answer, 0, NULL), *hops, *hop;
	const char *message = "this is not JSON";
	size_t i;

	memset(figures, 0, sizeof(*figures));
	hops = json_object_get(root, "path");
	if (!json_is_array(hops)) {
		json_unpack(root, "{s:{s:s}}", "error", "message", &message);
		failed(path, -EPROTO, "weir answers", message);
		json_decref(root);
		return -EPROTO;
	}
	json_array_foreach(hops, i, hop)
	{
		json_int_t age_ns = json_integer_value(json_object_get(hop, "age_ns"));

		least(&figures->available_kbps, hop, "available_kbps", &available_known);
		least(&figures->queue_packets, hop, "queue_packets", &queue_known);
		if (age_ns > (json_int_t)fresh_ms * 1000000)
			available_known = queue_known = false;
	}
	if (!available_known)
		figures->available_kbps = 0;
	if (!queue_known)
		figures->queue_packets = 0;
	json_decref(root);
	return 0;
}

int path_ask(struct path *path, const char *cloud, uint32_t fresh_ms, struct path_figures *figures)
{
	char line[256], answer[ANSWER_BYTES_MAX];
	int result;

	if (snprintf(line, sizeof(line), "show path %s\n", cloud) >= (int)sizeof(line) ||
	    strpbrk(cloud, "\r\n") != NULL)
		return failed(path, -EINVAL, "--path", "this is not the name of a cloud");
	result = path_send(path, line);
	if (result == 0)
		result = path_receive(path, answer);
	return result != 0 ? result : path_read(path, answer, fresh_ms, figures);
}
