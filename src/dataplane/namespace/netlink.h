/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configures a network namespace: interfaces up, addresses, neighbours, routes (rtnetlink(7)). Each
 * call acts on the network namespace in which its socket was made.
 *
 * Thread: any.
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <stdint.h>

#include "namespace/address.h"

/* Returns the socket, which the caller closes, or -errno. */
int netlink_open(void);

/* All of these return 0 or -errno. */

/* Sets an interface up. `mac` NULL, `mtu` 0 or `queue` 0 (frames): unchanged. */
int netlink_up(int netlink, int index, const uint8_t mac[6], uint32_t mtu, uint32_t queue);
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
/* Stops the kernel from sending ICMP (echo replies, errors), except for what neighbours need.
 * Sockets whose mark has bit 0 may still send. */
int netlink_silence_icmp(int netlink, int family);

#endif
