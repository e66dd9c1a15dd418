/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "text/word.h"

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

/* The state of the stream. */
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

/* Prints the complete lines among the bytes received. */
static void print_lines(struct ctl_link *link, struct stream *stream)
{
	size_t at = 0;
	const char *end;

	while ((end = memchr(link->bytes + at, '\n', link->n - at)) != NULL) {
		size_t n = (size_t)(end - link->bytes) - at;

		print_line(link, stream, link->bytes + at, n);
		at += n + 1;
	}
	link->n -= at;
	memmove(link->bytes, link->bytes + at, link->n);
	fflush(stdout);
}

int ctl_stream_print(struct ctl_link *link)
{
	struct stream stream = {.stopped = false};
	/* POLLERR of stdout: `weir ctl events | head -1` ends when head does, not only at the next
	 * event. */
	struct pollfd polled[2] = {{.fd = link->fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};

	print_lines(link, &stream);
	for (;;) {
		int result;

		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (polled[1].revents & POLLERR || ferror(stdout))
			return -EPIPE;
		if (!(polled[0].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		result = ctl_link_receive(link);
		if (result == -ECONNRESET)
			break;
		if (result != 0)
			return result;
		print_lines(link, &stream);
	}
	if (stream.stopped)
		return 0;
	if (!stream.told)
		fputs("weir ctl: weir hung up; is it still running?\n", stderr);
	return -ECONNRESET;
}
