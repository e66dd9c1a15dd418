/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interface of the kernel as anybody may look at it, without opening it: what `weir check` says
 * of a port, and `weir run` when it has opened one.
 *
 * Who uses it beside weir: a bridge or a bond that it belongs to takes its packets; with an address
 * the kernel answers for itself.
 *
 * Thread: any; asks the kernel.
 */
#ifndef WEIR_INTERFACE_LOOK_H
#define WEIR_INTERFACE_LOOK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

struct interface_look {
	char name[IFNAMSIZ];
	bool there;
	bool up;      /* administratively */
	bool carrier; /* and its wire */
	int mtu;      /* 0: it does not say */
	char driver[32];
	char master[IFNAMSIZ]; /* the bridge or bond that it belongs to, or "" */
	char address[64];      /* one of the kernel's own, or "" */
};

void interface_look(const char *name, struct interface_look *look);
/* `interface eth1 (ixgbe, MTU 1500)` */
void interface_look_text(const struct interface_look *look, char *text, size_t room);
/* Why no packet passes, and what helps: `interface eth1 is down: ...`; "" when it is up. */
void interface_look_down(const struct interface_look *look, char *text, size_t room);
/* Whether the driver receives into user space by itself (AF_XDP without a copy), so that
 * net_af_xdp may carry more than a packet socket. */
bool interface_look_xdp(const struct interface_look *look);

/* Whether this process may open it: 0; or -EPERM with what is missing, and what would do. */
int interface_look_rights(char *text, size_t room);

#endif
