/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out of a network namespace without rights in the one around it: what arrives for any
 * address in the world is taken here, and passed on by sockets of this process's own namespace, as
 * a program of this user would send it. Nothing is left behind: there is no rule, no address and no
 * forwarding outside.
 *
 *   command's namespace | tap -- weir -- tap | far namespace, every address is local | sockets here
 *
 * TCP ends in the far namespace, at the kernel's own TCP, so both directions of the emulated path
 * have a sender with the congestion control of Linux. (With a TCP of its own, as that of passt's
 * version of 2023, a way out gets 2.3 of 10 Mbit/s through `rate 10mbit queue 60kB delay 20ms`.)
 * The first segment of a connection waits in weir's port (tap_port.h) until the gateway's own
 * connection is there: what is refused there is refused here.
 *
 * UDP and ICMP echo pass datagram by datagram; ICMP errors come back to the sender with the address
 * of the router that sent them: traceroute and path MTU discovery see the network outside.
 * Other protocols do not pass.
 *
 * The address of the gateway itself is this machine: what is sent there reaches its loopback
 * address, and port 53 its resolver.
 *
 * Bounds: GATEWAY_TALKS_MAX flows of UDP and echo, the longest idle one gives way; one thread.
 * Ownership: the gateway owns what it opens; descriptors in the options stay the caller's.
 * Thread: start and stop: control. It has a thread of its own.
 */
#ifndef WEIR_GATEWAY_H
#define WEIR_GATEWAY_H

#include <stdint.h>

#include "namespace/address.h"
#include "scenario/problem.h"

#define GATEWAY_TALKS_MAX 4096

struct gateway_options {
	int net;     /* the far namespace */
	int tap;     /* its tap */
	int opening; /* a socket of frames: where the port sends what opens a connection */
	struct address gateway[2];     /* in the far namespace: IPv4 or none, IPv6 or none */
	union address_socket resolver; /* that port 53 of the gateway means; family 0: none */
};

struct gateway;

/* 0, or -errno with problem. */
int gateway_start(const struct gateway_options *options, struct gateway **gateway,
                  struct problem *problem);
/* Ends what is open. NULL is allowed. */
void gateway_stop(struct gateway *gateway);

#endif
