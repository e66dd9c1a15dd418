/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interface of the kernel as any process can look at it, without opening it: what `weir check`
 * reports of a port, and `weir run` when it has opened one.
 *
 * What an interface carries follows from its hardware type: Ethernet frames, or IP packets without
 * an Ethernet header (tun, WireGuard, PPP, IP in IP, GRE), or something that weir cannot take.
 *
 * Thread: any; reads from the kernel.
 */
#ifndef WEIR_INTERFACE_LOOK_H
#define WEIR_INTERFACE_LOOK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/scenario.h"

enum interface_carries { CARRIES_ETHERNET, CARRIES_IP, CARRIES_OTHER };

struct interface_look {
	char name[IFNAMSIZ]; /* the kernel's own; if it is not there, the wanted one, cut */
	bool there;
	int index;
	bool up;                /* administratively */
	bool carrier;           /* of the wire */
	uint32_t mtu;           /* 0: not known */
	uint16_t hardware_type; /* ARPHRD_... */
	bool point_to_point;
	char driver[32];
	char master[IFNAMSIZ]; /* the bridge or bond that it belongs to, or "" */
	char address[64];      /* an address of the kernel's own, or "" */
	bool forwards;         /* the kernel forwards the IP packets that it receives there */
};

/* Finds the interface that a name means: its own name, an alternative name, or `eth0@if7`, as
 * `ip link` prints it. Returns its index, and the kernel's own name; or 0. */
unsigned interface_find(const char *wanted, char name[IFNAMSIZ]);

void interface_look(const char *wanted, struct interface_look *look);
/* Writes `interface eth1 (ixgbe, MTU 1500)` */
void interface_look_text(const struct interface_look *look, char *text, size_t room);
enum interface_carries interface_look_carries(const struct interface_look *look);
/* Writes why weir cannot take what the interface carries, and what it can; "" if it can. */
void interface_look_refusal(const struct interface_look *look, char *text, size_t room);
/* Returns true if the driver receives directly into user space (AF_XDP without a copy), so that
 * net_af_xdp may carry more than a packet socket. */
bool interface_look_xdp(const struct interface_look *look);

/* Checks whether this process may open an interface. Returns 0; or -EPERM with what is missing, or
 * restricted, and how to get it. */
int interface_look_rights(char *text, size_t room);
/* Returns true if the owner of a packet socket has no CAP_NET_ADMIN. */
bool interface_look_is_limited(int fd);
/* Writes what that restricts, and the remedy. */
void interface_look_limited(char *text, size_t room);

/*
 * The obstacles to an emulation that an interface shows, each with its remedy: no packet passes, or
 * packets pass beside weir, or are falsified. `weir check` and `weir run` print this list.
 *
 * A bridge or a bond takes the packets of the interfaces that belong to it. If an interface has an
 * address, the kernel answers for itself. A driver of DPDK's takes frames as the kernel's offloads
 * leave them; a packet socket finishes them.
 */

#define OBSTACLES_MAX  6
#define OBSTACLE_BYTES 400

struct obstacles {
	uint32_t n;
	char texts[OBSTACLES_MAX][OBSTACLE_BYTES];
};

/* `by_driver`: a driver of DPDK's opens the interface, and not weir's packet socket. */
void obstacles_find(const struct interface_look *look, bool by_driver, struct obstacles *obstacles);

/* Adds one, unless there are OBSTACLES_MAX. */
void obstacle_add(struct obstacles *obstacles, const char *format, ...)
        __attribute__((format(__printf__, 2, 3)));

#endif
