/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine/cpu_level.h"
#include "port/device_text.h"

#define DESCRIPTORS_MAX 1024

void interface_no_socket(const char *name, int error, struct problem *problem)
{
	if (error == -EPERM || error == -EACCES)
		problem_set(
		        problem, -1,
		        "no permission for packet sockets: run as root, or give the program the "
		        "capabilities: setcap cap_net_raw,cap_net_admin+ep %s",
		        cpu_level_program());
	else
		problem_set(problem, -1, "interface %s: cannot open a packet socket: %s", name,
		            strerror(-error));
}

/* Binds the socket to the interface, for no packets, and makes the interface promiscuous. */
static int take(struct interface *interface, const struct interface_look *look,
                struct problem *problem)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = look->index};
	struct packet_mreq request = {.mr_ifindex = look->index, .mr_type = PACKET_MR_PROMISC};
	char refusal[200];
	int rc;

	interface_look_refusal(look, refusal, sizeof(refusal));
	if (refusal[0]) {
		problem_set(problem, -1, "%s", refusal);
		return -ENOTSUP;
	}
	if (bind(interface->socket, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    setsockopt(interface->socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request,
	               sizeof(request)) < 0) {
		rc = -errno;
		problem_set(problem, -1, "interface %s cannot be made promiscuous: %s", look->name,
		            strerror(-rc));
		return rc;
	}
	/* If it has come back with its old index, it may be the same, with its merging off. */
	if (look->index != interface->index)
		interface->merging = 0;
	interface->index = look->index;
	interface->carries = interface_look_carries(look);
	memcpy(interface->name, look->name, IFNAMSIZ);
	return 0;
}

int interface_open(const char *device, struct interface *interface, struct problem *problem)
{
	struct interface_look look;
	int rc;

	memset(interface, 0, sizeof(*interface));
	interface->socket = -1;
	if (!device_text_any_interface(device, interface->wanted))
		return 0;
	interface->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (interface->socket < 0) {
		rc = -errno;
		interface_no_socket(interface->wanted, rc, problem);
		return rc;
	}
	interface->limited = interface_look_is_limited(interface->socket);
	interface_look(interface->wanted, &look);
	if (!look.there) {
		problem_set(problem, -1,
		            "there is no interface %s in this network namespace; `ip link` lists "
		            "the existing ones",
		            interface->wanted);
		rc = -ENODEV;
		goto err_close;
	}
	if (interface_look_carries(&look) == CARRIES_IP && !device_text_interface(device)) {
		problem_set(problem, -1,
		            "interface %s carries IP packets without an Ethernet header, which "
		            "this driver cannot take; weir's packet socket can: `interface %s`",
		            look.name, look.name);
		rc = -ENOTSUP;
		goto err_close;
	}
	rc = take(interface, &look, problem);
	if (rc < 0)
		goto err_close;
	/* `eth0@if7`, as `ip link` prints it, is no alternative name. */
	if (interface->wanted[strlen(look.name)] == '@' &&
	    strncmp(interface->wanted, look.name, strlen(look.name)) == 0)
		strcpy(interface->wanted, look.name);
	return 0;

err_close:
	interface_close(interface);
	return rc;
}

bool interface_is_there(const struct interface *interface)
{
	struct sockaddr_ll address;
	socklen_t bytes = sizeof(address);

	return getsockname(interface->socket, (struct sockaddr *)&address, &bytes) == 0 &&
	       address.sll_ifindex == interface->index;
}

int interface_replace(struct interface *interface, const struct interface_look *by,
                      struct problem *problem)
{
	return take(interface, by, problem);
}

static bool switch_merging(const struct interface *interface, uint32_t which, bool on);

void interface_close(struct interface *interface)
{
	if (interface->index == 0 && interface->socket <= 0)
		return;
	for (uint32_t which = 0; interface_is_there(interface) && interface->merging >> which;
	     which++) {
		if (interface->merging >> which & 1)
			switch_merging(interface, which, true);
	}
	interface->merging = 0;
	close(interface->socket);
	interface->socket = -1;
	interface->index = 0;
	interface->n_sockets = 0;
}

void interface_find_sockets(struct interface *interface)
{
	interface->n_sockets = 0;
	if (interface->index == 0)
		return;
	for (int fd = 3; fd < DESCRIPTORS_MAX; fd++) {
		struct sockaddr_ll address;
		socklen_t bytes = sizeof(address);

		if (fd == interface->socket ||
		    getsockname(fd, (struct sockaddr *)&address, &bytes) < 0 ||
		    bytes < offsetof(struct sockaddr_ll, sll_hatype) ||
		    address.sll_family != AF_PACKET || address.sll_ifindex != interface->index)
			continue;
		if (interface->n_sockets < INTERFACE_SOCKETS_MAX)
			interface->sockets[interface->n_sockets++] = fd;
	}
}

static int ask_name(const struct interface *interface, char name[IFNAMSIZ])
{
	struct ifreq ifr = {.ifr_ifindex = interface->index};

	if (ioctl(interface->socket, SIOCGIFNAME, &ifr) < 0)
		return -errno;
	memcpy(name, ifr.ifr_name, IFNAMSIZ);
	return 0;
}

/* Executes a request that needs a name, after reading the present name: it may change at any
 * time. */
static int ask(const struct interface *interface, unsigned long request, struct ifreq *ifr)
{
	int rc = ask_name(interface, ifr->ifr_name);

	return rc < 0 ? rc : ioctl(interface->socket, request, ifr);
}

bool interface_renamed(struct interface *interface)
{
	char name[IFNAMSIZ];

	if (interface->index == 0 || !interface_is_there(interface) ||
	    ask_name(interface, name) < 0 || strcmp(name, interface->name) == 0)
		return false;
	if (strcmp(interface->wanted, interface->name) == 0)
		strcpy(interface->wanted, name);
	memcpy(interface->name, name, sizeof(name));
	return true;
}

bool interface_link_up(const struct interface *interface)
{
	struct ifreq ifr = {0};

	if (!interface_is_there(interface) || ask(interface, SIOCGIFFLAGS, &ifr) < 0)
		return false;
	return (ifr.ifr_flags & IFF_UP) && (ifr.ifr_flags & IFF_RUNNING);
}

uint64_t interface_missed(struct interface *interface)
{
	for (uint32_t i = 0; i < interface->n_sockets; i++) {
		struct tpacket_stats stats;
		socklen_t bytes = sizeof(stats);

		/* Reading resets the counters. Several threads may read, each a part. */
		if (getsockopt(interface->sockets[i], SOL_PACKET, PACKET_STATISTICS, &stats,
		               &bytes) == 0)
			__atomic_add_fetch(&interface->missed, stats.tp_drops, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&interface->missed, __ATOMIC_RELAXED);
}

static uint32_t feature(const struct interface *interface, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq ifr = {.ifr_data = (void *)&value};

	return ask(interface, SIOCETHTOOL, &ifr) == 0 ? value.data : 0;
}

/* The features that merge frames: how to read and how to set them. LRO is one bit of several. */
static const struct {
	uint32_t get, set, bit;
} merging[] = {{ETHTOOL_GGRO, ETHTOOL_SGRO, 1}, {ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_LRO}};

static bool switch_merging(const struct interface *interface, uint32_t which, bool on)
{
	uint32_t now = feature(interface, merging[which].get), bit = merging[which].bit;
	struct ethtool_value value = {.cmd = merging[which].set,
	                              .data = on ? now | bit : now & ~bit};
	struct ifreq ifr = {.ifr_data = (void *)&value};

	return value.data != now && ask(interface, SIOCETHTOOL, &ifr) == 0;
}

void interface_keep_apart(struct interface *interface)
{
	for (uint32_t which = 0; which < sizeof(merging) / sizeof(merging[0]); which++) {
		if (switch_merging(interface, which, false))
			interface->merging |= UINT32_C(1) << which;
	}
}

uint64_t interface_bps(const struct interface *interface)
{
	struct ethtool_cmd settings = {.cmd = ETHTOOL_GSET};
	struct ifreq ifr = {.ifr_data = (void *)&settings};

	if (ask(interface, SIOCETHTOOL, &ifr) < 0 ||
	    ethtool_cmd_speed(&settings) == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return (uint64_t)ethtool_cmd_speed(&settings) * 1000000;
}
