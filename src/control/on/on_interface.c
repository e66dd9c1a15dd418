/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "namespace/namespace.h"
#include "namespace/netlink.h"

#define QUEUE_FRAMES 10000
#define MTU_MAX      65521 /* of a tap */

const struct on_interface on_interface_none = {
        .socket = -1,
        .netlink = -1,
        .process = -1,
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
	struct on_interface *interface;
	int xdp; /* as netlink_xdp */
};

/* In the namespace. */
static int find(void *argument)
{
	struct search *search = argument;
	struct on_interface *interface = search->interface;

	interface->netlink = netlink_open();
	if (interface->netlink < 0)
		return interface->netlink;
	interface->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (interface->socket < 0)
		return -errno;
	interface_look(search->name, &interface->look);
	if (interface->look.there)
		search->xdp = netlink_xdp(interface->netlink, interface->look.index);
	return search->xdp < 0 ? search->xdp : 0;
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

static int no_namespace(const struct on_arguments *arguments, int error, struct problem *problem)
{
	if (arguments->pid && error == -ENOENT)
		problem_set(problem, -1, "--pid %" PRIu64 ": there is no such process",
		            arguments->pid);
	else if (arguments->pid)
		problem_set(problem, -1, "--pid %" PRIu64 ": its network cannot be opened: %s%s",
		            arguments->pid, strerror(-error),
		            error == -EACCES ? "; run as root" : "");
	else if (arguments->netns)
		problem_set(problem, -1,
		            "--netns %s: %s; `ip netns` lists the existing ones, and a path may "
		            "be given",
		            arguments->netns, strerror(-error));
	else
		problem_set(problem, -1, "this network namespace cannot be opened in /proc: %s",
		            strerror(-error));
	return error;
}

/* Opens the namespace once for each end, which closes it. */
static int open_net(const struct on_arguments *arguments, struct on_interface *interface,
                    struct problem *problem)
{
	const char *netns = arguments->netns;
	char path[PATH_MAX] = "/proc/thread-self/ns/net";

	if (arguments->pid)
		snprintf(path, sizeof(path), "/proc/%" PRIu64 "/ns/net", arguments->pid);
	else if (netns)
		snprintf(path, sizeof(path), "%s%s", strchr(netns, '/') ? "" : "/run/netns/", netns);
	/* Before the namespace: the number may become that of another process. */
	if (arguments->pid) {
		interface->process = (int)syscall(SYS_pidfd_open, (pid_t)arguments->pid, 0);
		if (interface->process < 0)
			return no_namespace(arguments, errno == ESRCH ? -ENOENT : -errno, problem);
	}
	for (unsigned end = 0; end < PATH_ENDS; end++) {
		interface->ends[end].net = open(path, O_RDONLY | O_CLOEXEC);
		if (interface->ends[end].net < 0)
			return no_namespace(arguments, -errno, problem);
	}
	return 0;
}

int on_interface_open(const struct on_arguments *arguments, struct on_interface *interface,
                      struct problem *problem)
{
	struct search search = {.name = arguments->interface, .interface = interface};
	int rc;

	*interface = on_interface_none;
	rc = detour_rights(problem);
	if (rc == 0)
		rc = open_net(arguments, interface, problem);
	if (rc < 0)
		return rc;
	rc = namespace_run(interface->ends[PATH_NEAR].net, find, &search);
	if (rc < 0) {
		problem_set(problem, -1, "interface %s cannot be looked at: %s%s",
		            arguments->interface, strerror(-rc),
		            rc == -EPERM ? "; another network needs root" : "");
		return rc;
	}
	rc = refuse(&interface->look, arguments->interface, search.xdp, problem);
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

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void on_interface_close(struct on_interface *interface)
{
	detour_end(&interface->detour);
	for (unsigned end = 0; end < PATH_ENDS; end++)
		path_end_close(&interface->ends[end]);
	close_fd(&interface->socket);
	close_fd(&interface->netlink);
	close_fd(&interface->process);
}

bool on_interface_is_gone(const struct on_interface *interface, struct problem *problem)
{
	struct ifreq ifr = {.ifr_ifindex = interface->look.index};
	struct pollfd process = {.fd = interface->process, .events = POLLIN};

	if (interface->process >= 0 && poll(&process, 1, 0) > 0)
		problem_set(problem, -1, "the process whose %s it was has ended",
		            interface->look.name);
	else if (ioctl(interface->socket, SIOCGIFNAME, &ifr) < 0)
		problem_set(problem, -1, "interface %s is not there any more",
		            interface->look.name);
	else
		return false;
	return true;
}

bool on_interface_lost(const struct on_interface *interface, uint64_t lost[PATH_ENDS])
{
	for (unsigned end = 0; end < PATH_ENDS; end++) {
		if (netlink_dropped(interface->netlink, interface->ends[end].index, &lost[end]) < 0)
			return false;
	}
	return true;
}
