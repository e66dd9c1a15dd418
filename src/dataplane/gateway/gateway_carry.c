/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries the bytes of a stream between its two sockets, and ends it. */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "gateway/gateway_state.h"

#define TURNS 8 /* of reading and writing, before other streams have theirs */

/* ---- the end of a stream ---- */

void stream_close_source(struct gateway *gateway, struct source *source, bool reset)
{
	struct linger at_once = {.l_onoff = 1};

	if (source->fd < 0)
		return;
	gateway_watch(gateway, source, 0);
	if (reset)
		setsockopt(source->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(source->fd);
	source->fd = -1;
}

void stream_end(struct gateway *gateway, struct stream *stream, bool reset)
{
	stream_close_source(gateway, &stream->outside.source, reset);
	stream_close_source(gateway, &stream->inside.source, reset);
	if (stream->listener)
		stream->listener->awaited--;
	stream->listener = NULL;
	gateway->files_free += stream->files;
	stream->files = 0;
	stream->state = STREAM_OVER;
}

/* ---- bytes ---- */

static bool would_block(void)
{
	return errno == EINTR || gateway_lacks(errno);
}

/* Returns true if the next byte is urgent data. This is certain only if there is one to read: then
 * its segment has come, and the kernel returns no byte behind that together with those before. */
static bool is_urgent(int fd)
{
	int mark = 0;

	return ioctl(fd, SIOCATMARK, &mark) == 0 && mark;
}

/* Reads into an empty half. Returns false if there was nothing to read. */
static bool read_some(struct half *half, struct stream_socket *from)
{
	ssize_t got;

	half->urgent = is_urgent(from->source.fd);
	got = recv(from->source.fd, half->bytes, half->urgent ? 1 : GATEWAY_BUFFER, 0);
	if (got < 0 && would_block())
		return false;
	from->broken |= got < 0;
	half->at = 0;
	half->n = got > 0 ? (size_t)got : 0;
	half->ended = got <= 0;
	half->reset = got < 0 || (got == 0 && from->reported);
	return true;
}

/* Returns true if all is written. */
static bool write_all(struct half *half, struct stream_socket *to)
{
	ssize_t got = send(to->source.fd, half->bytes + half->at, half->n,
	                   MSG_NOSIGNAL | (half->urgent ? MSG_OOB : 0));

	if (got < 0) {
		to->broken |= !would_block();
		/* EPIPE: it has closed its side before. */
		to->reported |= to->broken && errno != EPIPE;
		return false;
	}
	half->at += (size_t)got;
	half->n -= (size_t)got;
	return half->n == 0;
}

/* `readable`: an event says that there is something to read. */
static void carry(struct half *half, struct stream_socket *from, struct stream_socket *to,
                  bool readable)
{
	for (int turn = 0; turn < TURNS; turn++) {
		if (half->n == 0 && !half->ended) {
			if (!readable || !read_some(half, from))
				return;
			/* If there is more, another event says so. */
			readable = half->n == GATEWAY_BUFFER;
		}
		if (half->n == 0)
			break;
		if (!write_all(half, to))
			return;
	}
	if (half->ended && half->n == 0 && !half->shut && !half->reset) {
		half->shut = true;
		shutdown(to->source.fd, SHUT_WR);
	}
}

static void discard(struct half *half)
{
	half->n = 0;
	half->ended = true;
}

/* Returns how many bytes of a socket are not acknowledged; 0 if the connection is broken. */
static uint64_t unacknowledged(const struct stream_socket *socket)
{
	struct pollfd polled = {.fd = socket->source.fd};
	int bytes = 0;

	if (socket->broken || (poll(&polled, 1, 0) > 0 && (polled.revents & POLLERR)) ||
	    ioctl(socket->source.fd, SIOCOUTQ, &bytes) < 0)
		return 0;
	return (uint64_t)bytes;
}

void stream_pass_reset(struct gateway *gateway, struct stream *stream)
{
	stream->state = STREAM_ENDING;
	gateway_watch(gateway, &stream->outside.source, 0);
	gateway_watch(gateway, &stream->inside.source, 0);
	if (unacknowledged(&stream->outside) == 0 && unacknowledged(&stream->inside) == 0)
		stream_end(gateway, stream, true);
}

static uint32_t interest(const struct half *reads, const struct half *writes)
{
	return (reads->n == 0 && !reads->ended ? EPOLLIN : 0u) | (writes->n > 0 ? EPOLLOUT : 0u);
}

static bool is_done(const struct half *half)
{
	return half->ended && half->n == 0;
}

/* `readable`: the socket of which an event says that it has something to read, or NULL. */
static void carry_both(struct gateway *gateway, struct stream *stream,
                       const struct stream_socket *readable)
{
	struct stream_socket *outside = &stream->outside, *inside = &stream->inside;
	struct half *out = &stream->out, *in = &stream->in;
	int rc;

	if (!outside->broken)
		carry(out, inside, outside, readable == inside);
	if (!inside->broken)
		carry(in, outside, inside, readable == outside);
	/* What leads to a broken connection is lost. */
	if (outside->broken)
		discard(out);
	if (inside->broken)
		discard(in);
	if (is_done(out) && is_done(in)) {
		if (outside->broken || inside->broken)
			stream_pass_reset(gateway, stream);
		else
			stream_end(gateway, stream, false);
		return;
	}
	rc = gateway_watch(gateway, &inside->source, interest(out, in));
	if (rc == 0)
		rc = gateway_watch(gateway, &outside->source, interest(in, out));
	if (rc == 0)
		return;
	gateway_lose(gateway, -rc);
	stream_end(gateway, stream, true);
}

static void socket_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct stream_socket *socket = (struct stream_socket *)source;

	if (socket->stream->state != STREAM_CARRYING)
		return;
	socket->broken |= (events & EPOLLERR) != 0;
	carry_both(gateway, socket->stream,
	           events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? socket : NULL);
}

void stream_carry(struct gateway *gateway, struct stream *stream)
{
	int on = 1;

	stream->inside.source.ready = stream->outside.source.ready = socket_ready;
	stream->state = STREAM_CARRYING;
	setsockopt(stream->inside.source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(stream->outside.source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	carry_both(gateway, stream, NULL);
}

uint64_t stream_unsent(const struct stream *stream)
{
	int bytes = 0;

	if (stream->state == STREAM_ENDING)
		return unacknowledged(&stream->outside);
	if (stream->state != STREAM_CARRYING || stream->outside.broken)
		return 0;
	ioctl(stream->inside.source.fd, FIONREAD, &bytes);
	/* The end is one. */
	if (bytes == 0 && !stream->out.ended)
		bytes = gateway_is_readable(&stream->inside.source);
	return stream->out.n + (uint64_t)bytes;
}
