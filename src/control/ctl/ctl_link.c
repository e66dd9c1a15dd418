/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_link.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "language/language.h"
#include "service/answer.h"
#include "socket/socket.h"
#include "text/alloc_failure.h"
#include "text/array.h"
#include "text/file_read.h"
#include "text/word.h"

/*
 * Opens the files that a line names, with the rights of the user who typed it; a relative name
 * begins at that user's working directory.
 */

#define CTL_FILES_MAX 16 /* of one line */

struct ctl_files {
	uint32_t n;
	char *name[CTL_FILES_MAX];
	int fd[CTL_FILES_MAX];
};

/* A source of files that collects those that a line names while it is parsed. */
struct collector {
	struct file_source source;
	const char *path;
	struct ctl_files *files;
};

static int collect(const struct file_source *source, const char *name, struct file **file,
                   struct language_error *error)
{
	const struct collector *collector = (const struct collector *)source;
	struct ctl_files *files = collector->files;
	int fd = file_beside_open(collector->path, name), result;

	if (fd < 0)
		return language_error_set(error, ERROR_BAD_FILE, "%s", strerror(-fd));
	result = file_read_open(fd, name, FILE_CLIENT_BYTES_MAX, file, error);
	if (result == 0 && files->n < CTL_FILES_MAX &&
	    (files->name[files->n] = strdup(name)) != NULL)
		files->fd[files->n++] = fd;
	else
		close(fd);
	return result;
}

static bool names_none(const char *line)
{
	struct language_error error = {.name = ""};
	struct command command;
	int result;

	blocking_allow(false);
	result = language_parse(line, &command, &error);
	blocking_allow(true);
	if (result == 0)
		language_release(&command);
	return result == 0 || strcmp(error.name, ERROR_WOULD_BLOCK) != 0;
}

/* Opens the files that `line` names. `path`: the file that contains the line, whose folder is
 * searched first; or NULL. A file that cannot be opened is left out: weir reports why. */
static void ctl_files_open(struct ctl_files *files, const char *path, const char *line)
{
	struct collector collector = {.source = {.read = collect}, .path = path, .files = files};
	struct language_error ignored;
	struct command command;

	files->n = 0;
	if (names_none(line))
		return;
	file_source_use(&collector.source);
	if (language_parse(line, &command, &ignored) == 0)
		language_release(&command);
	file_source_use(NULL);
}

static void ctl_files_close(struct ctl_files *files)
{
	while (files->n > 0) {
		files->n--;
		close(files->fd[files->n]);
		free(files->name[files->n]);
	}
}

json_t *ctl_link_files(const char *line)
{
	json_t *names = json_array();
	struct ctl_files files;

	ctl_files_open(&files, NULL, line);
	for (uint32_t i = 0; i < files.n; i++)
		json_array_append_new(names, json_string(files.name[i]));
	ctl_files_close(&files);
	return names;
}

#define RECEIVE_BYTES 65536

int ctl_link_open(struct ctl_link *link, const char *path, time_t patience_s,
                  struct problem *problem)
{
	const struct timeval timeout = {.tv_sec = patience_s};
	char usual[SOCKET_PATH_BYTES];
	int fd;

	socket_client_path(usual);
	fd = socket_connect(path != NULL ? path : usual, problem);
	*link = (struct ctl_link){.fd = fd < 0 ? -1 : fd};
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	return 0;
}

void ctl_link_close(struct ctl_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	free(link->bytes);
	free(link->own);
	*link = (struct ctl_link){.fd = -1};
}

/* Closes the sending side: a part of a line may have been sent, so nothing may follow. If weir has
 * hung up, its reason still arrives; to half a line it answers an error, so no caller waits in vain
 * for an answer. */
static int link_broken(struct ctl_link *link, int error)
{
	shutdown(link->fd, SHUT_WR);
	return error == EAGAIN ? -ETIMEDOUT : -error;
}

static int link_write(struct ctl_link *link, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(link->fd, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return link_broken(link, errno);
		bytes += sent;
		n -= (size_t)sent;
	}
	return 0;
}

/* Returns true if the line changes the mode; *json is the new mode. */
static bool line_is_mode(const char *line, bool *json)
{
	struct language_error ignored;
	struct words words;

	if (words_split(line, &words, &ignored) != 0 || words.n != 2 || words.word[0].quoted ||
	    strcmp(words.word[0].text, "json") != 0)
		return false;
	*json = strcmp(words.word[1].text, "on") == 0;
	return *json || strcmp(words.word[1].text, "off") == 0;
}

/* Sends the first byte with the descriptor, if there is one; then the rest. */
static int link_write_with(struct ctl_link *link, const char *bytes, size_t n, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                     .cmsg_level = SOL_SOCKET,
	                     .cmsg_type = SCM_RIGHTS}};
	struct iovec first = {(void *)(uintptr_t)bytes, 1};
	struct msghdr message = {.msg_iov = &first,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	ssize_t sent;

	if (fd < 0)
		return link_write(link, bytes, n);
	memcpy(CMSG_DATA(&room.header), &fd, sizeof(fd));
	do
		sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return link_broken(link, errno);
	return link_write(link, bytes + 1, n - 1);
}

static int link_send_line(struct ctl_link *link, const char *line, int fd)
{
	size_t n = strlen(line);
	char *bytes = malloc(n + 1);
	int result;

	if (bytes == NULL)
		return -ENOMEM;
	memcpy(bytes, line, n);
	bytes[n] = '\n';
	result = link_write_with(link, bytes, n + 1, fd);
	free(bytes);
	link->sent++;
	return result;
}

/* Notes that the answer to the next line is not for the user. */
static int link_expect_own(struct ctl_link *link)
{
	if (!array_fits(&link->own, &link->own_room, link->n_own + 1, sizeof(*link->own)))
		return -ENOMEM;
	link->own[link->n_own++] = link->sent;
	return 0;
}

static int link_send_files(struct ctl_link *link, const struct ctl_files *files)
{
	int result = 0;

	for (uint32_t i = 0; i < files->n && result == 0; i++) {
		struct printed line;
		FILE *out = printed_begin(&line);

		fputs("file ", out);
		word_print(out, files->name[i], false);
		result = printed_end(&line) != NULL ? link_expect_own(link) : -ENOMEM;
		if (result == 0)
			result = link_send_line(link, line.bytes, files->fd[i]);
		free(line.bytes);
	}
	return result;
}

int ctl_link_send(struct ctl_link *link, const char *line)
{
	struct ctl_files files;
	bool json;
	int result;

	ctl_files_open(&files, link->path, line);
	result = link_send_files(link, &files);
	ctl_files_close(&files);
	if (result == 0)
		result = link_send_line(link, line, -1);
	if (result == 0 && line_is_mode(line, &json))
		link->json = json;
	return result;
}

/* Receives more bytes and appends them to `bytes`. Returns as ctl_link_answer. */
static int link_receive(struct ctl_link *link)
{
	ssize_t n;

	if (!array_fits(&link->bytes, &link->room, link->n + RECEIVE_BYTES, 1))
		return -ENOMEM;
	do
		n = recv(link->fd, link->bytes + link->n, link->room - link->n, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -ETIMEDOUT;
	if (n <= 0)
		return -ECONNRESET;
	link->n += (size_t)n;
	return 0;
}

/* Removes the first `n` bytes. */
static void link_used(struct ctl_link *link, size_t n)
{
	link->n -= n;
	memmove(link->bytes, link->bytes + n, link->n);
}

/* Returns the next complete line that was received, without its end, and its length; NULL if there
 * is none. To be called until it returns NULL. */
static const char *link_line(struct ctl_link *link, size_t *n)
{
	const char *line = link->bytes + link->at;
	const char *end = memchr(line, '\n', link->n - link->at);

	if (end == NULL) {
		link_used(link, link->at);
		link->at = 0;
		return NULL;
	}
	*n = (size_t)(end - line);
	link->at += *n + 1;
	return line;
}

static bool object_is_ok(const char *line, size_t n)
{
	json_t *object = json_loadb(line, n, 0, NULL);
	bool ok = object != NULL && !json_is_false(json_object_get(object, "ok"));

	json_decref(object);
	return ok;
}

/* Makes the answer whose last line is bytes[start .. end). */
static int link_answer_make(struct ctl_link *link, size_t start, size_t end,
                            struct ctl_answer *answer)
{
	const char *line = link->bytes + start;
	size_t n = end - start;
	bool text = answer_is_end(line, n);

	answer->ok = text ? line[0] == 'o' : object_is_ok(line, n);
	answer->body_n = text ? start : end + 1;
	answer->body = strndup(link->bytes, answer->body_n);
	if (!answer->ok)
		answer->error = text ? strndup(line + 4, n - 4) : strndup(line, n);
	link_used(link, end + 1);
	if (answer->body == NULL || (!answer->ok && answer->error == NULL)) {
		ctl_answer_release(answer);
		return -ENOMEM;
	}
	return 0;
}

static int link_answer_next(struct ctl_link *link, struct ctl_answer *answer)
{
	size_t start = 0, seen = 0;

	memset(answer, 0, sizeof(*answer));
	for (;;) {
		const char *end =
		        link->n > seen ? memchr(link->bytes + seen, '\n', link->n - seen) : NULL;
		size_t at;
		int result;

		if (end == NULL) {
			seen = link->n;
			result = link_receive(link);
			if (result != 0)
				return result;
			continue;
		}
		at = (size_t)(end - link->bytes);
		/* In JSON mode each line is one answer, except the text by which the server refuses
		 * a client that could not switch to JSON yet. */
		if (link->json || answer_is_end(link->bytes + start, at - start))
			return link_answer_make(link, start, at, answer);
		start = seen = at + 1;
	}
}

/* Returns true if the latest answer belongs to a line of the link's own. */
static bool link_answered_own(struct ctl_link *link)
{
	bool own = link->n_own > 0 && link->own[0] == link->answered;

	link->answered++;
	if (own)
		memmove(link->own, link->own + 1, --link->n_own * sizeof(*link->own));
	return own;
}

int ctl_link_answer(struct ctl_link *link, struct ctl_answer *answer)
{
	struct ctl_answer failed = {.ok = true};
	int result;

	while ((result = link_answer_next(link, answer)) == 0 && link_answered_own(link)) {
		ctl_answer_release(&failed);
		failed = *answer;
	}
	/* The error that a file was not taken explains more than the error that it is missing. */
	if (result == 0 && !answer->ok && !failed.ok && failed.error != NULL) {
		ctl_answer_release(answer);
		*answer = failed;
	} else {
		ctl_answer_release(&failed);
	}
	return result;
}

void ctl_answer_release(struct ctl_answer *answer)
{
	free(answer->body);
	free(answer->error);
	memset(answer, 0, sizeof(*answer));
}

int ctl_link_ask(struct ctl_link *link, const char *line, struct ctl_answer *answer)
{
	int sent = ctl_link_send(link, line);

	return sent == -ENOMEM ? sent : ctl_link_answer(link, answer);
}

int ctl_link_ask_with(struct ctl_link *link, const char *line, int fd, struct ctl_answer *answer)
{
	int sent = link_send_line(link, line, fd);

	return sent == -ENOMEM ? sent : ctl_link_answer(link, answer);
}

bool ctl_stream_line(const char *line)
{
	struct language_error ignored;
	struct words words;
	bool streams;

	if (words_split(line, &words, &ignored) != 0 || words.n == 0 || words.word[0].quoted)
		return false;
	streams = strcmp(words.word[0].text, "events") == 0 ||
	          strcmp(words.word[0].text, "sample") == 0;
	return streams && (words.n != 2 || strcmp(words.word[1].text, "off") != 0);
}

struct stream {
	bool stopped; /* weir has announced its end */
	bool told;    /* weir has sent the reason why it closes */
};

static void print_line(const struct ctl_link *link, struct stream *stream, const char *line,
                       size_t n)
{
	static const char stopped[] = "{\"event\":\"stopped\"";

	if (!link->json && n >= 4 && memcmp(line, "err ", 4) == 0) {
		fprintf(stderr, "weir ctl: %.*s\n", (int)(n - 4), line + 4);
		stream->told = true;
		return;
	}
	stream->told |= n > 11 && memcmp(line, "{\"ok\":false", 11) == 0;
	stream->stopped |=
	        link->json ? n > sizeof(stopped) && memcmp(line, stopped, sizeof(stopped) - 1) == 0
	                   : memmem(line, n, " stopped: ", 10) != NULL && n > 6 &&
	                             memcmp(line, "event ", 6) == 0;
	fwrite(line, 1, n, stdout);
	putchar('\n');
}

int ctl_stream_print(struct ctl_link *link)
{
	struct stream stream = {.stopped = false};
	const char *line;
	size_t n;
	/* POLLERR of stdout: `weir ctl events | head -1` ends when head does, not only at the next
	 * event. */
	struct pollfd polled[2] = {{.fd = link->fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};

	for (;;) {
		int result;

		while ((line = link_line(link, &n)) != NULL)
			print_line(link, &stream, line, n);
		fflush(stdout);
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (polled[1].revents & POLLERR || ferror(stdout))
			return -EPIPE;
		if (!(polled[0].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		result = link_receive(link);
		if (result == -ECONNRESET)
			break;
		if (result != 0)
			return result;
	}
	if (stream.stopped)
		return 0;
	if (!stream.told)
		fputs("weir ctl: weir hung up; is it still running?\n", stderr);
	return -ECONNRESET;
}
