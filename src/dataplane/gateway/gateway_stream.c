/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP through a gateway. The connection outside is opened first. Then its first segment is passed
 * to the far namespace, where a listener waits for it, and bytes are carried between both sockets.
 *
 *   CONNECTING  the socket outside is not connected yet
 *   WAITING     the segment was let in; the listener has not accepted yet
 *   CARRYING    both sockets are connected
 *   ENDING      one connection is broken; the other one is reset when all that came before the
 *               end is acknowledged there
 *   OVER        to be freed at the end of the round
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <linux/virtio_net.h>

#include "gateway/gateway_state.h"
#include "namespace/namespace.h"
#include "packet/headers.h"

#define SEGMENT_BYTES_MAX 256 /* headers with all options */
#define WAIT_S            75
#define TURNS             8 /* of reading and writing, before other streams have theirs */
#define BACKLOG           128

enum stream_state {
	STREAM_CONNECTING,
	STREAM_WAITING,
	STREAM_CARRYING,
	STREAM_ENDING,
	STREAM_OVER
};

/* A socket in the far namespace for all connections to one address and port. */
struct listener {
	struct source source; /* first */
	struct address address;
	uint16_t port;
	uint32_t awaited; /* streams that wait for it */
	struct listener *next;
};

/* One direction of a stream. */
struct half {
	uint8_t *bytes;
	size_t at, n;
	bool ended; /* nothing more can be read */
	bool reset; /* and the reason is a reset */
	bool shut;  /* the other side has been shut down, too */
};

struct stream_socket {
	struct source source; /* first */
	struct stream *stream;
	bool broken;   /* what it has received can be read; nothing can be sent */
	bool reported; /* send() has returned the reset, so recv() will return 0 in its place */
};

struct stream {
	enum stream_state state;
	struct ends ends;
	struct stream_socket outside, inside;
	struct half out, in;
	struct listener *listener;
	time_t until_s;
	uint8_t segment[SEGMENT_BYTES_MAX]; /* the frame that opens the stream */
	uint32_t segment_bytes;
	struct stream *next;
};

static struct stream *find(struct gateway *gateway, const struct ends *ends)
{
	struct stream *stream = gateway->streams[ends_place(ends)];

	while (stream && (stream->state == STREAM_OVER || !ends_equal(&stream->ends, ends)))
		stream = stream->next;
	return stream;
}

static void let_in(const struct gateway *gateway, const void *frame, uint32_t bytes)
{
	struct virtio_net_hdr header = {0};
	struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof(header)},
	                        {.iov_base = (void *)(uintptr_t)frame, .iov_len = bytes}};
	ssize_t written = writev(gateway->options.tap, parts, 2);

	(void)written; /* lost like any segment: the sender repeats it */
}

/* ---- the end of a stream ---- */

static void close_source(struct gateway *gateway, struct source *source, bool reset)
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

static void leave_listener(struct gateway *gateway, struct stream *stream)
{
	if (stream->listener)
		stream->listener->awaited--;
	stream->listener = NULL;
	(void)gateway;
}

static void end(struct gateway *gateway, struct stream *stream, bool reset)
{
	close_source(gateway, &stream->outside.source, reset);
	close_source(gateway, &stream->inside.source, reset);
	leave_listener(gateway, stream);
	stream->state = STREAM_OVER;
}

/* ---- bytes ---- */

static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static void carry(struct half *half, struct stream_socket *from, struct stream_socket *to)
{
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t got;

		if (half->n == 0 && !half->ended) {
			got = recv(from->source.fd, half->bytes, GATEWAY_BUFFER, 0);
			if (got < 0 && would_block())
				return;
			from->broken |= got < 0;
			half->at = 0;
			half->n = got > 0 ? (size_t)got : 0;
			half->ended = got <= 0;
			half->reset = got < 0 || (got == 0 && from->reported);
		}
		if (half->n == 0)
			break;
		got = send(to->source.fd, half->bytes + half->at, half->n, MSG_NOSIGNAL);
		if (got < 0) {
			to->broken |= !would_block();
			/* EPIPE: it has closed its side before. */
			to->reported |= to->broken && errno != EPIPE;
			return;
		}
		half->at += (size_t)got;
		half->n -= (size_t)got;
		if (half->n > 0)
			break;
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

/* Resets the other connection, if all that came before is acknowledged there. */
static void pass_reset(struct gateway *gateway, struct stream *stream)
{
	stream->state = STREAM_ENDING;
	gateway_watch(gateway, &stream->outside.source, 0);
	gateway_watch(gateway, &stream->inside.source, 0);
	if (unacknowledged(&stream->outside) == 0 && unacknowledged(&stream->inside) == 0)
		end(gateway, stream, true);
}

static uint32_t interest(const struct half *reads, const struct half *writes)
{
	return (reads->n == 0 && !reads->ended ? EPOLLIN : 0u) | (writes->n > 0 ? EPOLLOUT : 0u);
}

static bool is_done(const struct half *half)
{
	return half->ended && half->n == 0;
}

static void carry_both(struct gateway *gateway, struct stream *stream)
{
	struct stream_socket *outside = &stream->outside, *inside = &stream->inside;
	struct half *out = &stream->out, *in = &stream->in;

	if (!outside->broken)
		carry(out, inside, outside);
	if (!inside->broken)
		carry(in, outside, inside);
	/* What leads to a broken connection is lost. */
	if (outside->broken)
		discard(out);
	if (inside->broken)
		discard(in);
	if (is_done(out) && is_done(in)) {
		if (outside->broken || inside->broken)
			pass_reset(gateway, stream);
		else
			end(gateway, stream, false);
		return;
	}
	if (gateway_watch(gateway, &inside->source, interest(out, in)) < 0 ||
	    gateway_watch(gateway, &outside->source, interest(in, out)) < 0)
		end(gateway, stream, true);
}

static void socket_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct stream_socket *socket = (struct stream_socket *)source;

	if (socket->stream->state != STREAM_CARRYING)
		return;
	socket->broken |= (events & EPOLLERR) != 0;
	carry_both(gateway, socket->stream);
}

/* ---- accepting ---- */

static void start_carrying(struct gateway *gateway, struct stream *stream, int fd)
{
	int on = 1;

	leave_listener(gateway, stream);
	stream->inside.source = (struct source){.fd = fd, .ready = socket_ready};
	stream->outside.source.ready = socket_ready;
	stream->out.bytes = malloc(GATEWAY_BUFFER);
	stream->in.bytes = malloc(GATEWAY_BUFFER);
	stream->state = STREAM_CARRYING;
	if (!stream->out.bytes || !stream->in.bytes) {
		end(gateway, stream, true);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(stream->outside.source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	carry_both(gateway, stream);
}

static void listener_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct listener *listener = (struct listener *)source;
	struct linger at_once = {.l_onoff = 1};
	union address_socket peer;
	socklen_t bytes = sizeof(peer);
	int fd;

	(void)events;
	while ((fd = accept4(source->fd, &peer.any, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct ends ends = {.to = listener->address, .to_port = listener->port};
		struct stream *stream;

		ends.from = address_from(&peer, &ends.from_port);
		stream = find(gateway, &ends);
		if (stream && stream->state == STREAM_WAITING) {
			start_carrying(gateway, stream, fd);
		} else {
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
			close(fd);
		}
		bytes = sizeof(peer);
	}
}

static struct listener *make_listener(struct gateway *gateway, const struct ends *ends)
{
	union address_socket at = address_socket(&ends->to, ends->to_port);
	struct listener *made = calloc(1, sizeof(*made));
	int on = 1;

	if (!made)
		return NULL;
	made->source.ready = listener_ready;
	made->address = ends->to;
	made->port = ends->to_port;
	made->source.fd = namespace_socket_any_address(gateway->options.net, ends->to.family,
	                                               SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	                                               IPPROTO_TCP);
	if (made->source.fd >= 0) {
		setsockopt(made->source.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(made->source.fd, &at.any, address_socket_bytes(ends->to.family)) == 0 &&
		    listen(made->source.fd, BACKLOG) == 0 &&
		    gateway_watch(gateway, &made->source, EPOLLIN) == 0) {
			made->next = gateway->listeners;
			gateway->listeners = made;
			return made;
		}
		close(made->source.fd);
	}
	free(made);
	return NULL;
}

static struct listener *listener_for(struct gateway *gateway, const struct ends *ends)
{
	struct listener *listener = gateway->listeners;

	while (listener &&
	       (listener->port != ends->to_port || !address_equal(&listener->address, &ends->to)))
		listener = listener->next;
	return listener ? listener : make_listener(gateway, ends);
}

/* ---- opening ---- */

static void tell_unreachable(struct gateway *gateway, const struct stream *stream, int error)
{
	struct about about = {.ends = stream->ends, .protocol = IPPROTO_TCP};
	struct headers headers;

	headers_find(stream->segment, stream->segment_bytes, stream->segment_bytes, &headers);
	memcpy(about.first, stream->segment + headers.transport, sizeof(about.first));
	gateway_errno_send(gateway, &about, error);
}

static void connected(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct stream *stream = ((struct stream_socket *)source)->stream;
	int error = 0;
	socklen_t bytes = sizeof(error);

	(void)events;
	if (stream->state != STREAM_CONNECTING)
		return;
	getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	if (error == 0) {
		/* Watched again when the listener has accepted. */
		gateway_watch(gateway, source, 0);
		stream->listener = listener_for(gateway, &stream->ends);
		if (stream->listener) {
			stream->listener->awaited++;
			stream->state = STREAM_WAITING;
			stream->until_s = gateway->now_s + WAIT_S;
			let_in(gateway, stream->segment, stream->segment_bytes);
			return;
		}
	} else if (error == ECONNREFUSED || error == ECONNRESET) {
		/* There is no listener, so the kernel in the far namespace refuses the
		 * connection. */
		let_in(gateway, stream->segment, stream->segment_bytes);
	} else {
		tell_unreachable(gateway, stream, error);
	}
	end(gateway, stream, true);
}

static void open_stream(struct gateway *gateway, const struct ends *ends, const uint8_t *frame,
                        uint32_t bytes)
{
	union address_socket to = gateway_target(gateway, &ends->to, ends->to_port);
	struct stream *made = calloc(1, sizeof(*made));
	struct stream **place = &gateway->streams[ends_place(ends)];
	int fd, rc = -1;

	if (!made)
		return;
	made->ends = *ends;
	memcpy(made->segment, frame, bytes);
	made->segment_bytes = bytes;
	made->inside = (struct stream_socket){.source.fd = -1, .stream = made};
	made->outside = (struct stream_socket){.source.ready = connected, .stream = made};
	made->next = *place;
	*place = made;
	fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	made->outside.source.fd = fd;
	if (fd >= 0)
		rc = connect(fd, &to.any, address_socket_bytes(to.any.sa_family));
	if (rc < 0 && errno != EINPROGRESS) {
		if (errno == ECONNREFUSED)
			let_in(gateway, frame, bytes);
		else
			tell_unreachable(gateway, made, errno);
		end(gateway, made, true);
	} else if (gateway_watch(gateway, &made->outside.source, EPOLLOUT) < 0) {
		end(gateway, made, true);
	}
}

void gateway_opening_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	uint8_t *frame = gateway->buffer;
	ssize_t got;

	(void)events;
	while ((got = recv(source->fd, frame, GATEWAY_BUFFER, MSG_DONTWAIT)) > 0) {
		uint32_t bytes = (uint32_t)got;
		struct headers headers;
		const uint8_t *ip;
		struct stream *stream;
		struct ends ends;

		if (bytes > SEGMENT_BYTES_MAX || !headers_find(frame, bytes, bytes, &headers) ||
		    headers.transport_here < 20)
			continue;
		ip = frame + headers.network;
		ends.from = headers.ip == 6 ? address_of(AF_INET6, ip + 8)
		                            : address_of(AF_INET, ip + 12);
		ends.to = headers.ip == 6 ? address_of(AF_INET6, ip + 24)
		                          : address_of(AF_INET, ip + 16);
		ends.from_port = headers_u16(frame + headers.transport);
		ends.to_port = headers_u16(frame + headers.transport + 2);
		stream = find(gateway, &ends);
		if (!stream)
			open_stream(gateway, &ends, frame, bytes);
		else if (stream->state != STREAM_CONNECTING)
			let_in(gateway, frame, bytes);
	}
}

/* ---- housekeeping ---- */

static void free_stream(struct stream *stream)
{
	free(stream->out.bytes);
	free(stream->in.bytes);
	free(stream);
}

static void free_listeners(struct gateway *gateway, bool all)
{
	for (struct listener **at = &gateway->listeners; *at;) {
		struct listener *listener = *at;

		if (listener->awaited > 0 && !all) {
			at = &listener->next;
			continue;
		}
		*at = listener->next;
		close_source(gateway, &listener->source, false);
		free(listener);
	}
}

void gateway_streams_expire(struct gateway *gateway)
{
	gateway->n_ending = 0;
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct stream **at = &gateway->streams[i]; *at;) {
			struct stream *stream = *at;

			if (stream->state == STREAM_WAITING && gateway->now_s > stream->until_s)
				end(gateway, stream, true);
			if (stream->state == STREAM_ENDING)
				pass_reset(gateway, stream);
			gateway->n_ending += stream->state == STREAM_ENDING;
			if (stream->state != STREAM_OVER) {
				at = &stream->next;
				continue;
			}
			*at = stream->next;
			free_stream(stream);
		}
	}
	free_listeners(gateway, false);
}

static uint64_t stream_unsent(const struct stream *stream)
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

uint64_t gateway_streams_unsent(const struct gateway *gateway)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		const struct stream *stream = gateway->streams[i];

		for (; stream; stream = stream->next)
			sum += stream_unsent(stream);
	}
	for (const struct listener *at = gateway->listeners; at; at = at->next)
		sum += gateway_is_readable(&at->source);
	return sum;
}

/* The kernel sends on what it has taken of the streams that the command has closed. */
void gateway_streams_close(struct gateway *gateway)
{
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct stream *stream = gateway->streams[i]; stream; stream = stream->next)
			end(gateway, stream, !stream->out.shut);
	}
	gateway_streams_expire(gateway);
	free_listeners(gateway, true);
}
