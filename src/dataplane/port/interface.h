/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's network interface under a port (port_kinds.h, net_af_packet, net_af_xdp): what the
 * drivers for it do not do, or do in a way that would outlive weir.
 *
 * A packet socket of weir's own requests promiscuous reception (PACKET_MR_PROMISC): the kernel
 * revokes it when the socket is closed, however the process ends. DPDK's drivers would set
 * IFF_PROMISC, which stays.
 *
 * The interface is identified by its index, so renaming it (ip link set eth1 name lab) changes
 * nothing else. The same socket is bound to it, for no packets. If the interface is deleted, or
 * moved into another network namespace, the kernel unbinds the socket, and it stays so even if an
 * interface of this index comes back: so nobody else can be taken for it. Another interface may
 * then take its place: the one that has the last name, or, if the scenario gives an alternative
 * name, that name. To bind the socket again takes no rights.
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

#include "port/interface_look.h"
#include "scenario/problem.h"

#define INTERFACE_SOCKETS_MAX 16

struct interface {
	char name[IFNAMSIZ];               /* the latest known */
	char wanted[INTERFACE_NAME_BYTES]; /* the name of one that may take its place */
	int index;                         /* 0: the port has no interface */
	enum interface_carries carries;
	int socket;                         /* promiscuous; or -1 */
	bool limited;                       /* this process has no CAP_NET_ADMIN */
	int sockets[INTERFACE_SOCKETS_MAX]; /* of the driver */
	uint32_t n_sockets;
	uint64_t missed;
	uint32_t merging; /* bits 1 << row of `merging` in interface.c: switched off by weir */
};

/* Opens the interface that a device text means, or names with `iface=`; the index is 0 if it names
 * none. Returns 0, or -errno with problem: no such interface, none that weir can take, no
 * permission, no descriptor left. */
int interface_open(const char *device, struct interface *interface, struct problem *problem);
void interface_close(struct interface *interface);
/* Returns true if the interface that was opened is still there. */
bool interface_is_there(const struct interface *interface);
/* Takes another interface instead of one that is not there any more. Returns 0, or -errno with
 * problem. */
int interface_replace(struct interface *interface, const struct interface_look *by,
                      struct problem *problem);
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
/* Returns true if the interface is there, has a carrier and is administratively up. */
bool interface_link_up(const struct interface *interface);
/* Returns the packets so far that the kernel could not put into the driver's ring. Any thread may
 * call it. */
uint64_t interface_missed(struct interface *interface);

#endif
