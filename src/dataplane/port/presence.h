/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the interface under a port is there. It may be deleted, or moved into another network
 * namespace, while weir runs: a container or a virtual machine starts anew, a USB adapter is pulled
 * out. Then the port waits for an interface of that name (interface.h), and takes it.
 *
 * A port with a packet socket binds that socket again, which needs no rights and no agreement with
 * the workers: they find the socket without an interface, and later with one. DPDK's drivers
 * cannot do so; their ports stay without an interface.
 *
 * Thread: control.
 */
#ifndef WEIR_PRESENCE_H
#define WEIR_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRESENCE_TEXT_BYTES 480

struct presence {
	bool gone;
	uint64_t absences;             /* times it was found gone */
	uint64_t absent_ns;            /* in all, the present absence included */
	uint64_t last_ns;              /* of the last absence that has ended */
	uint64_t seen_ns, looked_ns;   /* it was last there; the last look */
	char why[PRESENCE_TEXT_BYTES]; /* an interface of its name cannot be taken; or "" */
};

enum presence_change {
	PRESENCE_SAME,
	PRESENCE_GONE,
	PRESENCE_BACK,
	PRESENCE_REFUSED, /* an interface of its name is there, and cannot be taken */
};

struct port;

/* Looks at `now_ns` whether the interface of a port is there, and tries to take it again if it is
 * gone. Returns what has changed, with a line about it. To be called until nothing has changed: an
 * interface may go and come between two looks. */
enum presence_change presence_watch(struct port *port, uint64_t now_ns, char *line, size_t room);

#endif
