/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the networks of the path of `weir exec`: one that neither this machine nor a surrounding
 * `weir exec` uses. They are taken from ranges for tests of networks, 198.18.0.0/15 (RFC 2544) and
 * 2001:2::/48 (RFC 5180). If a machine uses all of a range itself, as for example a proxy that
 * answers queries for names with addresses of its own, the next range is used: 100.64.0.0/10
 * (RFC 6598) and 10.0.0.0/8 (RFC 1918), 3fff::/48 (RFC 9637).
 *
 * A network is in use if an interface or a route of this machine overlaps it, in any table. A route
 * that is wider than the range is a way out and not a use, as the default route is.
 *
 * Inside another `weir exec`, only the innermost network of the surrounding ones can be seen. Each
 * therefore takes the first free one behind all addresses that it sees, and after the last network
 * of a range comes the first.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_PLACE_H
#define WEIR_EXEC_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/gateway.h"
#include "namespace/netlink.h"
#include "scenario/problem.h"

/* A network that is in use. */
struct exec_use {
	struct address network;
	uint8_t prefix;
	bool address; /* of an interface, and `network` is the address; otherwise of a route */
	bool weir;    /* of the interface of a surrounding weir exec */
};

/* Chooses a network of a family, a /24 or a /64, and sets `network` to its first address. Returns
 * 0, or -errno with problem: -EADDRINUSE, -ENOMEM. */
int exec_place_choose(int family, struct address *network, struct problem *problem);
/* The same for given uses, for tests. */
int exec_place_free(int family, const struct exec_use *uses, size_t n, struct address *network,
                    struct problem *problem);

/*
 * Name resolution inside `weir exec`. A resolver of this machine at a loopback address
 * (systemd-resolved, dnsmasq) or a link-local one cannot be reached from another network namespace.
 * Then the command gets a resolv.conf in which such a server has an address of the gateway, which
 * passes the queries on (gateway.h). All servers stay, in their order, with all other lines: which
 * of them is asked, and for how long, is the business of the command's resolver, as it is outside.
 *
 * Without any server, the C library asks 127.0.0.1.
 */

/* Reads /etc/resolv.conf. Sets `text` to what the command is to read instead, and `resolvers` to
 * the servers that the gateway passes on, at its address and those behind that of the command.
 * Returns how many. If the command may read the same file, `text` is "", and there are none. */
uint32_t exec_resolver_choose(const struct address *gateway,
                              struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                              size_t room);
/* The same for a given text, for tests. `here`: a server listens at 127.0.0.1. */
uint32_t exec_resolver_read(const char *conf, bool here, const struct address *gateway,
                            struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                            size_t room);

#endif
