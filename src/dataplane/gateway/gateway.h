/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way out of a network namespace without rights in the one around it. The gateway takes what
 * arrives for any address in the world, and passes it on by sockets of this process's own
 * namespace, as a program of this user would send it. Nothing is left behind: no rule, no address
 * and no forwarding outside.
 *
 *   command's namespace | tap -- weir -- tap | far namespace, every address is local | sockets here
 *
 * TCP ends in the far namespace, at the kernel's own TCP, so both directions of the emulated path
 * have a sender with the congestion control of Linux. (A way out with a TCP of its own, such as
 * passt's version of 2023, gets 2.3 of 10 Mbit/s through `rate 10mbit queue 60kB delay 20ms`.) The
 * first segment of a connection waits in weir's port (tap_port.h) until the gateway's own
 * connection is established: a connection that is refused outside is refused inside. If one is
 * reset, the other one is reset when it has acknowledged all that came before.
 *
 * UDP and ICMP echo pass datagram by datagram, as through a router: DSCP, ECN and flow label stay,
 * and the hop limit is one less. Of TCP the DSCP passes to the world, and urgent data both ways;
 * ECN is negotiated on each side (docs/exec.md has the table). ICMP errors return to the sender
 * with the address of the router that sent them: traceroute and path MTU discovery see the network
 * outside. Other protocols do not pass.
 *
 * The gateway's own address is this machine: packets to it reach the machine's loopback address. A
 * resolver that only this machine reaches has an address like it, at port 53.
 *
 * Bounds: GATEWAY_TALKS_MAX flows of UDP and echo, of which the longest idle one is replaced; one
 * thread.
 * Ownership: the gateway owns what it opens; descriptors in the options stay the caller's.
 * Thread: start, unsent and stop: control. The gateway has a thread of its own.
 */
#ifndef WEIR_GATEWAY_H
#define WEIR_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/priority.h"
#include "namespace/netlink.h"
#include "scenario/problem.h"

#define GATEWAY_TALKS_MAX     4096
#define GATEWAY_RESOLVERS_MAX 3 /* as many as the C library asks */

struct gateway_resolver {
	struct address address;      /* in the far namespace: the gateway's, or one like it */
	union address_socket server; /* outside */
};

struct gateway_options {
	int net;     /* the far namespace */
	int tap;     /* the tap in it */
	int opening; /* a socket on which the port sends the frames that open connections */
	struct address gateway[2]; /* in the far namespace: IPv4 or none, IPv6 or none */
	struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX];
	uint32_t n_resolvers;
	struct priority priority; /* of its thread: packets wait for it, too */
};

struct gateway;

/* Returns 0, or -errno with problem. */
int gateway_start(const struct gateway_options *options, struct gateway **gateway,
                  struct problem *problem);
/* Returns how many bytes the far namespace has received and the gateway has not yet given to a
 * socket outside; 1 if there is only a datagram, a connection or an end. NULL is allowed. */
uint64_t gateway_unsent(struct gateway *gateway);
/* Packets that the gateway has lost so far because this machine lacks something (descriptors,
 * ports, memory, time). No ICMP error tells the command of them. A lost segment that opens a
 * connection is repeated by its sender. */
struct gateway_losses {
	uint64_t to_world, to_command;
};
/* NULL is allowed: none. */
void gateway_losses(struct gateway *gateway, struct gateway_losses *losses);
/* Writes a line about new losses, with what is lacking and the remedy. Returns false if there are
 * none. NULL is allowed. */
bool gateway_trouble(struct gateway *gateway, char *line, size_t room);
/* Ends all flows, and frees the gateway. The kernel sends on what the sockets outside have of
 * connections that the command has closed. NULL is allowed. */
void gateway_stop(struct gateway *gateway);

#endif
