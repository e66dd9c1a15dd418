/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configures a network namespace: interfaces up, addresses, neighbours, routes (rtnetlink(7)). Each
 * call acts on the network namespace in which its socket was made.
 *
 * Thread: any.
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/*
 * An IP address of either family, and its conversion for sockets.
 *
 * Thread: pure functions, any.
 */

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

/* Returns the socket, which the caller closes, or -errno. */
int netlink_open(void);

/* All of these return 0 or -errno. */

/* Sets an interface up. `mac` NULL, `mtu` 0 or `queue` 0 (frames): unchanged. */
int netlink_up(int netlink, int index, const uint8_t mac[6], uint32_t mtu, uint32_t queue);
/* Keeps the kernel from giving an interface an IPv6 address, and from announcing that: before the
 * interface is up. */
int netlink_gives_no_address(int netlink, int index);
/* Adds an address; for IPv6 without duplicate address detection, so that it can be used at once. */
int netlink_address(int netlink, int index, const struct address *address, uint8_t prefix);
/* Adds a permanent neighbour, for which the network is never queried. */
int netlink_neighbour(int netlink, int index, const struct address *address, const uint8_t mac[6]);
int netlink_default_route(int netlink, int index, const struct address *via);
/* Makes every address this machine's own, except for those of the neighbours in `link`. */
int netlink_everything_is_local(int netlink, const struct address *link, uint8_t prefix);
/* Calls `each` for every route to which packets are sent, or which is local, in all tables. */
int netlink_routes(int netlink, int family,
                   void (*each)(void *argument, const struct address *network, uint8_t prefix),
                   void *argument);
/* Reads how many packets that were sent to an interface its driver has dropped. */
int netlink_dropped(int netlink, int index, uint64_t *packets);
/* Returns 1 if an XDP program is attached to an interface, 0 if not. */
int netlink_xdp(int netlink, int index);
/* Stops the kernel from sending ICMP (echo replies, errors), except for what neighbours need.
 * Sockets whose mark has bit 0 may still send. */
int netlink_silence_icmp(int netlink, int family);

#endif
