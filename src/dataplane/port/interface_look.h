/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interface of the kernel as any process can look at it, without opening it: what `weir check`
 * reports of a port, and `weir run` when it has opened one.
 *
 * Other users of the interface: a bridge or a bond that it belongs to takes its packets; if it has
 * an address, the kernel answers for itself.
 *
 * Thread: any; reads from the kernel.
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
	bool carrier; /* of the wire */
	int mtu;      /* 0: not known */
	char driver[32];
	char master[IFNAMSIZ]; /* the bridge or bond that it belongs to, or "" */
	char address[64];      /* an address of the kernel's own, or "" */
};

void interface_look(const char *name, struct interface_look *look);
/* Writes `interface eth1 (ixgbe, MTU 1500)` */
void interface_look_text(const struct interface_look *look, char *text, size_t room);
/* Writes why no packet passes, and what helps: `interface eth1 is down: ...`; "" if it is up. */
void interface_look_down(const struct interface_look *look, char *text, size_t room);
/* Returns true if the driver receives directly into user space (AF_XDP without a copy), so that
 * net_af_xdp may carry more than a packet socket. */
bool interface_look_xdp(const struct interface_look *look);

/* Checks whether this process may open an interface. Returns 0; or -EPERM with what is missing, or
 * restricted, and how to get it. */
int interface_look_rights(char *text, size_t room);

#endif
