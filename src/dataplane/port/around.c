/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/around.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/filter.h"
#include "namespace/namespace.h"
#include "namespace/netlink.h"

#define QUEUE_FRAMES 10000
#define MTU_MAX      65521 /* of a tap */

const struct around around_none = {
        .socket = -1,
        .netlink = -1,
        .ends = {{.net = -1, .tap = -1, .stamps = -1}, {.net = -1, .tap = -1, .stamps = -1}}};

/* ---- the interface ---- */

static int refuse(const struct interface_look *look, const char *wanted, int xdp,
                  struct problem *problem)
{
	char refusal[200];

	if (!look->there) {
		problem_set(problem, -1,
		            "there is no interface %s in this network namespace; `ip link` lists "
		            "the existing ones",
		            wanted);
		return -ENODEV;
	}
	interface_look_refusal(look, refusal, sizeof(refusal));
	if (refusal[0]) {
		problem_set(problem, -1, "%s", refusal);
		return -ENOTSUP;
	}
	if (look->hardware_type == ARPHRD_LOOPBACK) {
		problem_set(
		        problem, -1,
		        "interface %s leads to this machine itself, and the kernel does not take "
		        "its packets back from weir: `weir exec STATEMENTS --between 'A: SERVER' "
		        "'B: CLIENT'` runs both with weir between",
		        look->name);
		return -ENOTSUP;
	}
	if (interface_look_carries(look) != CARRIES_ETHERNET) {
		problem_set(problem, -1,
		            "interface %s carries IP packets without an Ethernet header, which "
		            "weir on cannot take; it can take the interface below it, and `weir "
		            "exec` needs none",
		            look->name);
		return -ENOTSUP;
	}
	if (xdp > 0) {
		problem_set(problem, -1,
		            "interface %s has an XDP program, which takes packets before weir: "
		            "remove it with `ip link set %s xdp off`, or end the program that "
		            "uses it",
		            look->name, look->name);
		return -EBUSY;
	}
	return 0;
}

struct search {
	const char *name;
	struct around *around;
	int xdp; /* as netlink_xdp */
};

/* In the namespace. */
static int find(void *argument)
{
	struct search *search = argument;
	struct around *around = search->around;

	around->netlink = netlink_open();
	if (around->netlink < 0)
		return around->netlink;
	around->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (around->socket < 0)
		return -errno;
	interface_look(search->name, &around->look);
	if (around->look.there)
		search->xdp = netlink_xdp(around->netlink, around->look.index);
	return search->xdp < 0 ? search->xdp : 0;
}

/* ---- the taps ---- */

struct set_up {
	const struct tap_end *end;
	const char *name;
	uint32_t mtu;
};

/* In the namespace. */
static int set_up_tap(void *argument)
{
	const struct set_up *set_up = argument;
	int netlink = netlink_open(), rc;
	char path[80];

	if (netlink < 0)
		return netlink;
	/* Keeps the kernel from sending packets of its own. In a container, and for the service,
	 * /proc/sys is read-only, and a kernel without IPv6 has neither. */
	snprintf(path, sizeof(path), "ipv6/conf/%s/disable_ipv6", set_up->name);
	namespace_sysctl_write(path, "1");
	netlink_gives_no_address(netlink, set_up->end->index);
	rc = netlink_up(netlink, set_up->end->index, NULL, set_up->mtu, QUEUE_FRAMES);
	close(netlink);
	return rc;
}

static int open_tap(struct around *around, unsigned which, struct problem *problem)
{
	const struct interface_look *look = &around->look;
	struct tap_end *end = &around->ends[which];
	char name[IFNAMSIZ];
	struct set_up set_up = {
	        .end = end, .name = name, .mtu = look->mtu > MTU_MAX ? MTU_MAX : look->mtu};
	int rc;

	snprintf(name, sizeof(name), "weir-%c%x", which == AROUND_INSIDE ? 'h' : 'w',
	         (unsigned)look->index);
	rc = tap_end_open(end, name, -1, problem);
	if (rc == -EBUSY)
		problem_set(problem, -1,
		            "weir is on %s already (%s is its tap): change what it does with `weir "
		            "ctl`, or end it first",
		            look->name, name);
	if (rc < 0)
		return rc;
	rc = namespace_run(end->net, set_up_tap, &set_up);
	if (rc < 0)
		problem_set(problem, -1, "tap %s cannot be set up: %s", name, strerror(-rc));
	return rc;
}

/* ---- the whole ---- */

int around_open(const struct around_plan *plan, struct around *around, struct problem *problem)
{
	struct search search = {.name = plan->interface, .around = around};
	int rc;

	*around = around_none;
	rc = detour_rights(problem);
	if (rc == 0 && plan->match)
		rc = filter_steps(plan->match, &around->steps, &around->n_steps, problem);
	if (rc < 0)
		return rc;
	rc = namespace_run(plan->net, find, &search);
	if (rc < 0) {
		problem_set(problem, -1, "interface %s cannot be looked at: %s%s", plan->interface,
		            strerror(-rc), rc == -EPERM ? "; another network needs root" : "");
		return rc;
	}
	rc = refuse(&around->look, plan->interface, search.xdp, problem);
	for (unsigned side = 0; rc == 0 && side < AROUND_SIDES; side++) {
		around->ends[side].net = fcntl(plan->net, F_DUPFD_CLOEXEC, 0);
		if (around->ends[side].net < 0)
			return problem_set(problem, -1, "no descriptor is left");
		rc = open_tap(around, side, problem);
	}
	return rc;
}

int around_begin(struct around *around, struct problem *problem)
{
	const struct detour_plan plan = {
	        .net = around->ends[AROUND_INSIDE].net,
	        .name = around->look.name,
	        .interface = around->look.index,
	        .taps = {[DETOUR_HOST] = around->ends[AROUND_INSIDE].index,
	                 [DETOUR_WORLD] = around->ends[AROUND_OUTSIDE].index},
	        .steps = around->steps,
	        .n_steps = around->n_steps,
	};

	return detour_begin(&plan, &around->detour, problem);
}

void around_empty(struct around *around)
{
	detour_empty(&around->detour);
}

void around_end(struct around *around)
{
	detour_end(&around->detour);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void around_close(struct around *around)
{
	around_end(around);
	for (unsigned side = 0; side < AROUND_SIDES; side++)
		tap_end_close(&around->ends[side]);
	close_fd(&around->socket);
	close_fd(&around->netlink);
	free(around->steps);
	around->steps = NULL;
}

bool around_is_gone(const struct around *around)
{
	struct ifreq ifr = {.ifr_ifindex = around->look.index};

	return ioctl(around->socket, SIOCGIFNAME, &ifr) < 0;
}

bool around_lost(const struct around *around, unsigned side, uint64_t *lost)
{
	return netlink_dropped(around->netlink, around->ends[side].index, lost) == 0;
}
