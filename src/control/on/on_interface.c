/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "namespace/namespace.h"
#include "namespace/netlink.h"

#define QUEUE_FRAMES 10000
#define MTU_MAX      65521 /* of a tap */

const struct on_interface on_interface_none = {
        .socket = -1,
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

/* In the namespace. */
static int find(void *argument)
{
	struct on_interface *interface = argument;
	int netlink = netlink_open(), xdp;

	if (netlink < 0)
		return netlink;
	xdp = netlink_xdp(netlink, interface->look.index);
	close(netlink);
	interface->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return interface->socket < 0 ? -errno : xdp;
}

/* ---- the taps ---- */

struct set_up {
	const struct path_end *end;
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
	/* Keeps the kernel from sending packets of its own. */
	snprintf(path, sizeof(path), "ipv6/conf/%s/disable_ipv6", set_up->name);
	namespace_sysctl_write(path, "1");
	snprintf(path, sizeof(path), "ipv6/conf/%s/addr_gen_mode", set_up->name);
	namespace_sysctl_write(path, "1");
	rc = netlink_up(netlink, set_up->end->index, NULL, set_up->mtu, QUEUE_FRAMES);
	close(netlink);
	return rc;
}

static int open_tap(struct on_interface *interface, unsigned which, struct problem *problem)
{
	const struct interface_look *look = &interface->look;
	struct path_end *end = &interface->ends[which];
	char name[IFNAMSIZ];
	struct set_up set_up = {
	        .end = end, .name = name, .mtu = look->mtu > MTU_MAX ? MTU_MAX : look->mtu};
	int rc;

	snprintf(name, sizeof(name), "weir-%c%x", which == PATH_NEAR ? 'h' : 'w',
	         (unsigned)look->index);
	rc = path_end_open(end, name, -1, problem);
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

/* Each end closes its own descriptor of the namespace. */
static int open_net(struct on_interface *interface, struct problem *problem)
{
	int rc;

	for (unsigned end = 0; end < PATH_ENDS; end++) {
		interface->ends[end].net = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		if (interface->ends[end].net >= 0)
			continue;
		rc = -errno;
		problem_set(problem, -1, "this network namespace cannot be opened in /proc: %s",
		            strerror(-rc));
		return rc;
	}
	return 0;
}

int on_interface_open(const char *name, struct on_interface *interface, struct problem *problem)
{
	int rc, xdp = 0;

	*interface = on_interface_none;
	rc = detour_rights(problem);
	if (rc == 0)
		rc = open_net(interface, problem);
	if (rc < 0)
		return rc;
	interface_look(name, &interface->look);
	if (interface->look.there)
		xdp = namespace_run(interface->ends[PATH_NEAR].net, find, interface);
	if (xdp < 0) {
		problem_set(problem, -1, "interface %s cannot be looked at: %s%s", name,
		            strerror(-xdp), xdp == -EPERM ? "; run as root" : "");
		return xdp;
	}
	rc = refuse(&interface->look, name, xdp, problem);
	for (unsigned end = 0; rc == 0 && end < PATH_ENDS; end++)
		rc = open_tap(interface, end, problem);
	return rc;
}

int on_interface_begin(struct on_interface *interface, struct problem *problem)
{
	const struct detour_plan plan = {
	        .net = interface->ends[PATH_NEAR].net,
	        .name = interface->look.name,
	        .interface = interface->look.index,
	        .taps = {[DETOUR_HOST] = interface->ends[PATH_NEAR].index,
	                 [DETOUR_WORLD] = interface->ends[PATH_FAR].index},
	};

	return detour_begin(&plan, &interface->detour, problem);
}

void on_interface_end(struct on_interface *interface)
{
	detour_end(&interface->detour);
}

void on_interface_close(struct on_interface *interface)
{
	detour_end(&interface->detour);
	for (unsigned end = 0; end < PATH_ENDS; end++)
		path_end_close(&interface->ends[end]);
	if (interface->socket >= 0)
		close(interface->socket);
	interface->socket = -1;
}

bool on_interface_is_there(const struct on_interface *interface)
{
	struct ifreq ifr = {.ifr_ifindex = interface->look.index};

	return ioctl(interface->socket, SIOCGIFNAME, &ifr) == 0;
}
