/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP through a gateway. The connection outside is opened first. Then its first segment is passed
 * to the far namespace, where a listener waits for it, and bytes are carried between both sockets.
 *
 * A stream takes all that it needs, descriptors and memory, before it opens the connection. If this
 * machine lacks something, the segment is lost: its sender repeats it.
 */
#include "gateway/gateway_state.h"

#include <errno.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/virtio_net.h>

#include "namespace/namespace.h"
#include "packet/headers.h"
#include "port/dscp_watch.h"

#define WAIT_S        75
#define BACKLOG       128
#define FILES_OPENING 3 /* both sockets and a listener */
#define FILES_OPEN    2
#define TCP_FLAGS     13
#define SYN           0x02

static struct stream *find(struct gateway *gateway, const struct ends *ends)
{
	struct stream *stream = gateway->streams[ends_place(ends)];

	while (stream && (stream->state == STREAM_OVER || !ends_equal(&stream->ends, ends)))
		stream = stream->next;
	return stream;
}

static void free_stream(struct stream *stream)
{
	if (!stream)
		return;
	free(stream->out.bytes);
	free(stream->in.bytes);
	free(stream);
}

static void let_in(const struct gateway *gateway, const void *frame, uint32_t bytes)
{
	struct virtio_net_hdr header = {0};
	struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof(header)},
	                        {.iov_base = (void *)(uintptr_t)frame, .iov_len = bytes}};
	ssize_t written = writev(gateway->options.tap, parts, 2);

	(void)written; /* lost like any segment: the sender repeats it */
}

/* ---- accepting ---- */

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
			stream->listener->awaited--;
			stream->listener = NULL;
			stream->inside.source.fd = fd;
			gateway->files_free += stream->files - FILES_OPEN;
			stream->files = FILES_OPEN;
			stream_carry(gateway, stream);
		} else {
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
			close(fd);
		}
		bytes = sizeof(peer);
	}
	/* Connections that cannot be accepted now wait; the next round tries again. */
	if (errno != EAGAIN && gateway_lacks(errno))
		gateway_watch(gateway, source, 0);
}

/* Returns 0, or -errno. */
static int listen_at(struct gateway *gateway, struct listener *listener)
{
	union address_socket at = address_socket(&listener->address, listener->port);
	int fd = namespace_socket_any_address(gateway->options.net, listener->address.family,
	                                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	                                      IPPROTO_TCP);
	int on = 1;

	listener->source = (struct source){.fd = fd, .ready = listener_ready};
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* Accepted sockets inherit it. */
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	if (bind(fd, &at.any, address_socket_bytes(listener->address.family)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	return gateway_watch(gateway, &listener->source, EPOLLIN);
}

static struct listener *make_listener(struct gateway *gateway, const struct ends *ends)
{
	struct listener *made = calloc(1, sizeof(*made));
	int rc = -ENOMEM;

	if (made) {
		made->address = ends->to;
		made->port = ends->to_port;
		rc = listen_at(gateway, made);
	}
	if (rc == 0) {
		made->next = gateway->listeners;
		gateway->listeners = made;
		return made;
	}
	gateway_lose(gateway, gateway_lacks(-rc) ? -rc : ENOMEM);
	if (made)
		stream_close_source(gateway, &made->source, false);
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
	stream_end(gateway, stream, true);
}

/* Sets the DSCP of what is sent outside. The kernel keeps the bits of ECN. */
static void set_dscp(const struct stream *stream, uint8_t dscp)
{
	gateway_set(stream->outside.source.fd, stream->family, IP_TOS, IPV6_TCLASS, dscp);
}

/* Returns the errno of a connection that cannot be opened. EADDRNOTAVAIL has two reasons: this
 * machine has no port left or, for UDP as well, no address of the family. */
static int opening_errno(const union address_socket *to, int error)
{
	int family = to->any.sa_family, fd;

	if (error == ENOBUFS)
		return ENOMEM;
	if (error != EADDRNOTAVAIL)
		return error;
	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error;
	if (connect(fd, &to->any, address_socket_bytes(family)) < 0 && errno == EADDRNOTAVAIL)
		error = ENETUNREACH;
	close(fd);
	return error;
}

/* Begins to connect outside. Returns 0 or the errno. */
static int start_connecting(struct gateway *gateway, struct stream *stream, uint8_t dscp)
{
	const struct ends *ends = &stream->ends;
	union address_socket to = gateway_target(gateway, &ends->to, ends->to_port);
	int fd, on = 1;

	stream->family = to.any.sa_family;
	fd = socket(stream->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return opening_errno(&to, errno);
	stream->outside.source.fd = fd;
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	set_dscp(stream, dscp);
	if (connect(fd, &to.any, address_socket_bytes(stream->family)) < 0 && errno != EINPROGRESS)
		return opening_errno(&to, errno);
	return -gateway_watch(gateway, &stream->outside.source, EPOLLOUT);
}

/* Makes a stream with all that it needs. Returns NULL if this machine lacks something. */
static struct stream *make_stream(struct gateway *gateway, const struct ends *ends,
                                  const uint8_t *frame, uint32_t bytes)
{
	struct stream *made;

	if (!gateway_files_take(gateway, FILES_OPENING)) {
		gateway_lose(gateway, EMFILE);
		return NULL;
	}
	made = calloc(1, sizeof(*made));
	if (made) {
		made->out.bytes = malloc(GATEWAY_BUFFER);
		made->in.bytes = malloc(GATEWAY_BUFFER);
	}
	if (!made || !made->out.bytes || !made->in.bytes) {
		gateway_lose(gateway, ENOMEM);
		gateway->files_free += FILES_OPENING;
		free_stream(made);
		return NULL;
	}
	made->ends = *ends;
	memcpy(made->segment, frame, bytes);
	made->segment_bytes = bytes;
	made->files = FILES_OPENING;
	made->inside = (struct stream_socket){.source.fd = -1, .stream = made};
	made->outside =
	        (struct stream_socket){.source = {.fd = -1, .ready = connected}, .stream = made};
	return made;
}

static void open_stream(struct gateway *gateway, const struct ends *ends, uint8_t dscp,
                        const uint8_t *frame, uint32_t bytes)
{
	struct stream *made = make_stream(gateway, ends, frame, bytes);
	struct stream **place = &gateway->streams[ends_place(ends)];
	int error;

	if (!made)
		return;
	made->next = *place;
	*place = made;
	error = start_connecting(gateway, made, dscp);
	if (error == 0)
		return;
	if (error == ECONNREFUSED)
		let_in(gateway, frame, bytes);
	else
		tell_unreachable(gateway, made, error);
	stream_end(gateway, made, true);
}

/* Handles a segment that opens a connection or, with its headers only, one at which its flow
 * changes the DSCP. */
static void segment_read(struct gateway *gateway, const uint8_t *frame, uint32_t bytes)
{
	struct headers headers;
	struct stream *stream;
	struct ends ends;
	const uint8_t *ip;
	uint8_t dscp;

	if (bytes > STREAM_SEGMENT_MAX || !headers_find(frame, bytes, UINT16_MAX, &headers) ||
	    headers.transport_here < 20)
		return;
	ip = frame + headers.network;
	dscp = dscp_of(frame, &headers);
	ends.from = headers.ip == 6 ? address_of(AF_INET6, ip + 8) : address_of(AF_INET, ip + 12);
	ends.to = headers.ip == 6 ? address_of(AF_INET6, ip + 24) : address_of(AF_INET, ip + 16);
	ends.from_port = headers_u16(frame + headers.transport);
	ends.to_port = headers_u16(frame + headers.transport + 2);
	stream = find(gateway, &ends);
	if ((frame[headers.transport + TCP_FLAGS] & SYN) == 0) {
		if (stream && stream->outside.source.fd >= 0)
			set_dscp(stream, dscp);
	} else if (!stream) {
		open_stream(gateway, &ends, dscp, frame, bytes);
	} else if (stream->state != STREAM_CONNECTING) {
		let_in(gateway, frame, bytes);
	}
}

void gateway_opening_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	ssize_t got;

	(void)events;
	while ((got = recv(source->fd, gateway->buffer, GATEWAY_BUFFER, MSG_DONTWAIT)) > 0)
		segment_read(gateway, gateway->buffer, (uint32_t)got);
}

/* ---- housekeeping ---- */

static void free_listeners(struct gateway *gateway, bool all)
{
	for (struct listener **at = &gateway->listeners; *at;) {
		struct listener *listener = *at;

		if (listener->awaited > 0 && !all) {
			gateway_watch(gateway, &listener->source, EPOLLIN);
			at = &listener->next;
			continue;
		}
		*at = listener->next;
		stream_close_source(gateway, &listener->source, false);
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
				stream_end(gateway, stream, true);
			if (stream->state == STREAM_ENDING)
				stream_pass_reset(gateway, stream);
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
			stream_end(gateway, stream, !stream->out.shut);
	}
	gateway_streams_expire(gateway);
	free_listeners(gateway, true);
}
