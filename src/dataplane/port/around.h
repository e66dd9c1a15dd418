/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both sides of an interface as ports, with the detour between them (detour.h): what the kernel
 * sends there comes in at the side `inside`, and what the wire brings at `outside`. The interface
 * keeps all that it has.
 *
 * Each side is a tap, in the interface's network namespace, where `ip link` shows them as weir-h7
 * (towards the host: inside) and weir-w7 (towards the wire: outside), 7 being the index of the
 * interface, in hexadecimal digits. They have no addresses, and the kernel sends nothing of its own
 * there. Their names keep a second weir away: two detours at one interface would feed each other
 * for ever.
 *
 * Thread: control.
 */
#ifndef WEIR_AROUND_H
#define WEIR_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "detour/detour.h"
#include "port/interface_look.h"
#include "port/tap_end.h"
#include "scenario/problem.h"

enum { AROUND_OUTSIDE, AROUND_INSIDE, AROUND_SIDES };

struct around {
	int socket;  /* in the interface's namespace */
	int netlink; /* the same */
	struct interface_look look;
	struct tap_end ends[AROUND_SIDES];
	struct sock_filter *steps; /* NULL: all packets take the detour */
	uint32_t n_steps;
	struct detour detour;
};

struct around_plan {
	int net; /* the interface's network namespace; stays the caller's */
	const char *interface;
	const char *match; /* a filter (filter.h); NULL: all packets */
};

extern const struct around around_none;

/* Finds the interface and makes the taps. Packets still go their usual way. Returns 0, or -errno
 * with problem: there is no such interface, it cannot be taken, weir is on it already. */
int around_open(const struct around_plan *plan, struct around *around, struct problem *problem);
/* Begins the detour, when the ports on the taps are open. Returns 0, or -errno with problem. */
int around_begin(struct around *around, struct problem *problem);
/* Gives the interface back; what is still on its way through weir goes on (detour.h). */
void around_empty(struct around *around);
/* Gives the interface back. */
void around_end(struct around *around);
/* Ends, and closes all that around_open has opened. */
void around_close(struct around *around);
/* Returns true if the interface is not there any more. That it has another name now is no
 * matter. */
bool around_is_gone(const struct around *around);
/* Reads how many packets had no room in the tap of a side so far: weir has never seen them. Returns
 * false if that is not known. */
bool around_lost(const struct around *around, unsigned side, uint64_t *lost);

#endif
