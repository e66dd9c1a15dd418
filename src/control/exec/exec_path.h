/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of the path of `weir exec`: network namespaces with a tap of weir's each.
 *
 *   near  the command's (of --between: B's); its default route leads through weir
 *   far   that of the gateway (gateway.h), or A's
 *
 * Addresses are of the ranges for tests of networks, 198.18.0.0/15 (RFC 2544) and 2001:2::/48
 * (RFC 5180), in a part that neither this machine uses nor a `weir exec` around it: the far end is
 * .1, the near one .2. Both know each other's link address, so no ARP and no neighbour discovery
 * crosses the path. IPv6 is there if this machine has it, and for the gateway if it has a route;
 * the MTU is that of the route out.
 *
 * Ownership: exec_path_close closes all of it; with that, and with the processes inside, the
 * namespaces are gone.
 * Thread: control.
 */
#ifndef WEIR_EXEC_PATH_H
#define WEIR_EXEC_PATH_H

#include "exec/exec_child.h"
#include "gateway/gateway.h"

#define EXEC_DEVICE_BYTES 64

enum { EXEC_FAR, EXEC_NEAR, EXEC_ENDS };

struct exec_end {
	int net, tap;
	struct address address[2];      /* IPv4; IPv6, or none */
	char device[EXEC_DEVICE_BYTES]; /* of a port */
};

struct exec_path {
	struct exec_end ends[EXEC_ENDS];
	int opening[2]; /* the far port's end, and the gateway's; of --between: -1 */
	union address_socket resolver;
	struct exec_surroundings around; /* of both ends */
	struct gateway *gateway;
};

/* `between`: two commands, no gateway. 0, or -errno with problem. */
int exec_path_open(bool between, struct exec_path *path, struct problem *problem);
/* Lets packets out, when the ports are open. */
int exec_path_let_out(struct exec_path *path, struct problem *problem);
void exec_path_close(struct exec_path *path);

#endif
