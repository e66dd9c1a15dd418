/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's network interface under a port (net_af_packet, net_af_xdp): what DPDK's drivers for
 * them do not do, or do in a way that would outlive weir.
 *
 * A packet socket of our own requests promiscuous reception (PACKET_MR_PROMISC): the kernel revokes
 * it when the socket is closed, however the process ends. DPDK's drivers would set IFF_PROMISC,
 * which stays.
 *
 * The interface is known by its index: renaming it (ip link set eth1 name lab) changes nothing
 * else.
 *
 * Losses: net_af_packet does not read how many packets the kernel dropped because its receive ring
 * was full. weir reads that from its sockets, which it finds among the descriptors of this process.
 *
 * Thread: control.
 */
#ifndef WEIR_INTERFACE_H
#define WEIR_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"

#define INTERFACE_SOCKETS_MAX 16

struct interface {
	char name[IFNAMSIZ];                /* the latest known */
	int index;                          /* 0: the port has no interface */
	int promiscuous;                    /* the socket, or -1 */
	int sockets[INTERFACE_SOCKETS_MAX]; /* of the driver */
	uint32_t n_sockets;
	uint64_t missed;
	uint32_t merging; /* ETHTOOL_S... commands that switched something off, as bits */
};

/* The name of the interface that a device text means by itself, without a driver of DPDK's:
 * `interface:eth1`, or `eth1`. NULL: it means something else. */
const char *interface_named(const char *device);
/* The name of the interface that a device text means or names with `iface=`, be it there or not.
 * False: it has none, or makes it itself (net_tap). */
bool interface_name_of(const char *device, char name[IFNAMSIZ]);
/* The interface that a device text means, or names with `iface=`; index 0 when it names none. 0, or
 * -errno with problem: no such interface, no permission. */
int interface_open(const char *device, struct interface *interface, struct problem *problem);
void interface_close(struct interface *interface);
/* After the driver has opened its sockets. */
void interface_find_sockets(struct interface *interface);

/* Switches off what merges frames as they are received (GRO, LRO), where weir may; interface_close
 * switches it on again. What is merged all the same is cut again (super_frame.h), but has come
 * together. */
void interface_keep_apart(struct interface *interface);
/* Of its wire; 0: it does not say. */
uint64_t interface_bps(const struct interface *interface);
/* True when it has another name now than when it was asked last. */
bool interface_renamed(struct interface *interface);
/* Carrier and administratively up. */
bool interface_link_up(const struct interface *interface);
/* Packets that the kernel could not put into the driver's ring, so far. */
uint64_t interface_missed(struct interface *interface);
/* Fills `text` with what the kernel does to packets on this interface that an emulator must not
 * have, and how to stop it: "" when there is nothing. */
void interface_offloads(const struct interface *interface, char *text, size_t room);

#endif
