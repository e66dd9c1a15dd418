/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A detour around an interface: what the kernel receives and sends there goes through two taps
 * first, which have a user in this process. The interface keeps all that it has: name, addresses,
 * routes, neighbours, firewall, queueing discipline, offloads.
 *
 *                          tap "host"        tap "world"
 *   the kernel's stack  --->  read  ......>  write  --->  interface  ---> wire     egress
 *   the kernel's stack  <---  write <......  read   <---  interface  <--- wire     ingress
 *
 * With a filter only the packets that fit do (program.h).
 *
 * Each arrow at a tap is a BPF program at a tcx hook (Linux 6.6), which redirects:
 *
 *   interface, egress    to the tap "host"; but not what came in at the tap "world"
 *   tap "world", ingress to the interface, egress
 *   interface, ingress   to the tap "world"; but not what has the mark, which is cleared
 *   tap "host", ingress  to the interface, ingress, with the mark
 *
 * The kernel forgets at which interface a packet came in when that is redirected into an ingress,
 * and keeps its mark in one network namespace: so the mark, a random number, tells it. A packet
 * that goes out is told by where it came in, and its mark stays as it is.
 *
 * Programs come first at their hooks, so programs of others, as those of a container network, see a
 * packet once, after the detour; so do the firewall and, towards the wire, the queueing discipline.
 * Packet sockets at the interface see a received packet twice: before the detour, and behind it.
 * What passes before tcx is not affected: XDP, and queueing for AF_XDP.
 *
 * The attachments are links, which end with their descriptors, however the process ends. The taps
 * end in the same way. If a tap is gone before a link, packets are lost for the time between.
 *
 * Needs CAP_BPF (or CAP_SYS_ADMIN) and CAP_NET_ADMIN. Thread: control.
 */
#ifndef WEIR_DETOUR_H
#define WEIR_DETOUR_H

#include <stdint.h>

#include <linux/filter.h>

#include "scenario/problem.h"

enum { DETOUR_HOST, DETOUR_WORLD, DETOUR_TAPS };
#define DETOUR_LINKS 4

/* All zero is none; descriptors are never 0 here. */
struct detour {
	int links[DETOUR_LINKS];
	int last_program; /* of the interface's ingress, while the detour empties */
};

/* What a detour is about: indices in the network namespace `net`. */
struct detour_plan {
	int net;
	const char *name; /* of the interface, for messages */
	int interface;
	int taps[DETOUR_TAPS];
	/* A filter (filter_steps): what does not fit goes its usual way, within the kernel. None:
	 * all packets take the detour. */
	const struct sock_filter *steps;
	uint32_t n_steps;
};

/* Checks whether this process may make a detour and its taps, before anything is made. Returns 0,
 * or -EPERM with problem. */
int detour_rights(struct problem *problem);
/* Begins the detour. Returns 0; or -errno with problem, and nothing is attached. */
int detour_begin(const struct detour_plan *plan, struct detour *detour, struct problem *problem);
/* Lets the interface's packets go their usual way from now on. What is still written to the taps
 * goes to the interface as before, so it may arrive behind later packets. */
void detour_empty(struct detour *detour);
/* Ends it: the interface is as before. */
void detour_end(struct detour *detour);

#endif
