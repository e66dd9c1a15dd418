/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An IP address of either family, and its conversion for sockets.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ADDRESS_H
#define WEIR_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct address {
	int family; /* AF_INET, AF_INET6; 0: none */
	uint8_t bytes[16];
};

union address_socket {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static inline uint32_t address_bytes(int family)
{
	return family == AF_INET6 ? 16 : 4;
}

static inline struct address address_of(int family, const void *bytes)
{
	struct address address = {.family = family};

	memcpy(address.bytes, bytes, address_bytes(family));
	return address;
}

static inline bool address_equal(const struct address *a, const struct address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* `port` is in host byte order. */
static inline union address_socket address_socket(const struct address *address, uint16_t port)
{
	union address_socket to = {.any.sa_family = (sa_family_t)address->family};

	if (address->family == AF_INET) {
		memcpy(&to.in.sin_addr, address->bytes, 4);
		to.in.sin_port = htons(port);
	} else {
		memcpy(&to.in6.sin6_addr, address->bytes, 16);
		to.in6.sin6_port = htons(port);
	}
	return to;
}

static inline socklen_t address_socket_bytes(int family)
{
	return family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static inline struct address address_from(const union address_socket *from, uint16_t *port)
{
	*port = ntohs(from->any.sa_family == AF_INET6 ? from->in6.sin6_port : from->in.sin_port);
	return from->any.sa_family == AF_INET6 ? address_of(AF_INET6, &from->in6.sin6_addr)
	                                       : address_of(AF_INET, &from->in.sin_addr);
}

#endif
