/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's network interface under a port (net_af_packet, net_af_xdp): what DPDK's drivers for
 * them do not do, or do in a way that would outlive weir.
 *
 * A packet socket of weir's own requests promiscuous reception (PACKET_MR_PROMISC): the kernel
 * revokes it when the socket is closed, however the process ends. DPDK's drivers would set
 * IFF_PROMISC, which stays.
 *
 * The interface is identified by its index, so renaming it (ip link set eth1 name lab) changes
 * nothing else.
 *
 * Losses: net_af_packet does not read how many packets the kernel dropped because its receive ring
 * was full. weir reads that from the driver's sockets, which it finds among the descriptors of this
 * process.
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
	uint32_t merging; /* bits 1 << row of `merging` in interface.c: switched off by weir */
};

/* Returns the name of the interface that a device text means by itself, without a driver of DPDK's:
 * `interface:eth1`, or `eth1`. Returns NULL if the text means something else. */
const char *interface_named(const char *device);
/* Finds the name of the interface that a device text means, or names with `iface=`, whether it
 * exists or not. Returns false if there is none, or the device makes it itself (net_tap). */
bool interface_name_of(const char *device, char name[IFNAMSIZ]);
/* Opens the interface that a device text means, or names with `iface=`; the index is 0 if it names
 * none. Returns 0, or -errno with problem: no such interface, no permission, no descriptor left. */
int interface_open(const char *device, struct interface *interface, struct problem *problem);
void interface_close(struct interface *interface);
/* Sets the problem of a packet socket on the interface `name` that cannot be opened. `error`:
 * -errno. */
void interface_no_socket(const char *name, int error, struct problem *problem);
/* Finds the driver's sockets. To be called after the driver has opened them. */
void interface_find_sockets(struct interface *interface);

/* Switches off the merging of received frames (GRO, LRO), if weir may; interface_close switches it
 * on again. Frames that are merged all the same are cut again (super_frame.h), but have come
 * together. */
void interface_keep_apart(struct interface *interface);
/* Returns the speed of the wire, or 0 if the interface does not report it. */
uint64_t interface_bps(const struct interface *interface);
/* Returns true if the interface has been renamed since the last call, and stores the new name. */
bool interface_renamed(struct interface *interface);
/* Returns true if the interface has a carrier and is administratively up. */
bool interface_link_up(const struct interface *interface);
/* Returns the packets so far that the kernel could not put into the driver's ring. Any thread may
 * call it. */
uint64_t interface_missed(struct interface *interface);
/* Fills `text` with what the kernel does to packets on this interface that would falsify an
 * emulation, and how to stop it: "" if there is nothing. */
void interface_offloads(const struct interface *interface, char *text, size_t room);

#endif
