/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a network namespace needs to be used: interfaces up, addresses, neighbours, routes
 * (rtnetlink(7)). Each call acts on the network namespace where its socket was made.
 *
 * Thread: any.
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <stdint.h>

#include "namespace/address.h"

/* The socket, or -errno; the caller's to close. */
int netlink_open(void);

/* All of these: 0, or -errno. */

/* Up. `mac` NULL, `mtu` 0 or `queue` 0 (frames): as it is. */
int netlink_up(int netlink, int index, const uint8_t mac[6], uint32_t mtu, uint32_t queue);
/* IPv6 without detection of duplicates, so it can be used at once. */
int netlink_address(int netlink, int index, const struct address *address, uint8_t prefix);
/* For ever: nobody asks the network for it. */
int netlink_neighbour(int netlink, int index, const struct address *address, const uint8_t mac[6]);
int netlink_default_route(int netlink, int index, const struct address *via);
/* Every address is this machine's own, apart from the neighbours in `link`. */
int netlink_everything_is_local(int netlink, const struct address *link, uint8_t prefix);
/* The kernel itself sends no ICMP any more (echo replies, errors), apart from what neighbours need;
 * sockets whose mark has bit 0 do. */
int netlink_silence_icmp(int netlink, int family);

#endif
