/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of the path of `weir exec`: network namespaces, each with a tap of weir's.
 *
 *   near  the command's (of --between: B's); its default route leads through weir
 *   far   that of the gateway (gateway.h), or A's
 *
 * Addresses are of a network that neither this machine nor a surrounding `weir exec` uses
 * (exec_place.h): the far end is .1, the near end .2. Each end has the link address of the other,
 * so no ARP and no neighbour discovery crosses the path. There is IPv6 if this machine has it and,
 * for the gateway, a route. The MTU is that of the route out.
 *
 * Ownership: exec_path_close closes everything. The namespaces vanish with that, and with the
 * processes inside.
 * Thread: control.
 */
#ifndef WEIR_EXEC_PATH_H
#define WEIR_EXEC_PATH_H

#include "exec/exec_child.h"
#include "gateway/gateway.h"

#define EXEC_DEVICE_BYTES 64
#define EXEC_INTERFACE    "weir0" /* at both ends */

enum { EXEC_FAR, EXEC_NEAR, EXEC_ENDS };

struct exec_end {
	int net, tap;
	int stamps; /* socket (tap_port.h), or -errno: the time of frames is not known */
	struct address address[2];      /* IPv4; IPv6, or none */
	char device[EXEC_DEVICE_BYTES]; /* for struct port_conf */
};

struct exec_path {
	struct exec_end ends[EXEC_ENDS];
	int opening[2]; /* of a socket pair: the far port's, and the gateway's; of --between: -1 */
	struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX];
	uint32_t n_resolvers;
	struct exec_surroundings around; /* of both ends */
	struct gateway *gateway;
};

/* Opens the path. `between`: two commands, no gateway. Returns 0, or -errno with problem. */
int exec_path_open(bool between, struct exec_path *path, struct problem *problem);
/* Starts the gateway, when the ports are open. Returns 0, or -errno with problem. */
int exec_path_let_out(struct exec_path *path, const struct priority *priority,
                      struct problem *problem);
void exec_path_close(struct exec_path *path);

#endif
