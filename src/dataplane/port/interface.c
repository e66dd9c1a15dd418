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
#include "scenario/scenario.h"

#define DESCRIPTORS_MAX 1024

const char *interface_named(const char *device)
{
	size_t bytes = strlen(device);

	if (strncmp(device, PORT_INTERFACE, strlen(PORT_INTERFACE)) == 0)
		return device + strlen(PORT_INTERFACE);
	/* DPDK's virtual devices are called net_... or eth_...; PCI devices and files have a
	 * colon. */
	if (bytes == 0 || bytes >= IFNAMSIZ || strpbrk(device, ",:/") ||
	    strncmp(device, "net_", 4) == 0 || strncmp(device, "eth_", 4) == 0)
		return NULL;
	return device;
}

static bool name_of(const char *device, char name[IFNAMSIZ])
{
	const char *at = strstr(device, ",iface="), *named = interface_named(device);
	size_t bytes;

	if (!at && !named)
		return false;
	at = named ? named : at + strlen(",iface=");
	bytes = strcspn(at, ",");
	/* net_vhost names a socket by its path. */
	if (bytes == 0 || bytes >= IFNAMSIZ || memchr(at, '/', bytes))
		return false;
	memcpy(name, at, bytes);
	name[bytes] = '\0';
	return true;
}

bool interface_name_of(const char *device, char name[IFNAMSIZ])
{
	/* net_tap makes the interface that it names. */
	return strncmp(device, "net_tap", 7) != 0 && strncmp(device, "file:", 5) != 0 &&
	       name_of(device, name);
}

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

int interface_open(const char *device, struct interface *interface, struct problem *problem)
{
	struct packet_mreq request = {.mr_type = PACKET_MR_PROMISC};
	int rc;

	memset(interface, 0, sizeof(*interface));
	interface->promiscuous = -1;
	if (!interface_name_of(device, interface->name))
		return 0;
	interface->promiscuous = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (interface->promiscuous < 0) {
		rc = -errno;
		interface_no_socket(interface->name, rc, problem);
		return rc;
	}
	interface->index = (int)if_nametoindex(interface->name);
	if (interface->index == 0) {
		problem_set(problem, -1,
		            "there is no interface %s in this network namespace; `ip link` lists "
		            "the existing ones",
		            interface->name);
		rc = -ENODEV;
		goto err_close;
	}
	request.mr_ifindex = interface->index;
	if (setsockopt(interface->promiscuous, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request,
	               sizeof(request)) < 0) {
		rc = -errno;
		problem_set(problem, -1, "interface %s cannot be made promiscuous: %s",
		            interface->name, strerror(-rc));
		goto err_close;
	}
	return 0;

err_close:
	interface_close(interface);
	return rc;
}

static bool switch_merging(const struct interface *interface, uint32_t which, bool on);

void interface_close(struct interface *interface)
{
	if (interface->index == 0 && interface->promiscuous <= 0)
		return;
	for (uint32_t which = 0; interface->merging >> which; which++) {
		if (interface->merging >> which & 1)
			switch_merging(interface, which, true);
	}
	interface->merging = 0;
	close(interface->promiscuous);
	interface->promiscuous = -1;
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

		if (fd == interface->promiscuous ||
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

	if (ioctl(interface->promiscuous, SIOCGIFNAME, &ifr) < 0)
		return -errno;
	memcpy(name, ifr.ifr_name, IFNAMSIZ);
	return 0;
}

/* Executes a request that needs a name, after reading the present name: it may change at any
 * time. */
static int ask(const struct interface *interface, unsigned long request, struct ifreq *ifr)
{
	int rc = ask_name(interface, ifr->ifr_name);

	return rc < 0 ? rc : ioctl(interface->promiscuous, request, ifr);
}

bool interface_renamed(struct interface *interface)
{
	char name[IFNAMSIZ];

	if (interface->index == 0 || ask_name(interface, name) < 0 ||
	    strcmp(name, interface->name) == 0)
		return false;
	memcpy(interface->name, name, sizeof(name));
	return true;
}

bool interface_link_up(const struct interface *interface)
{
	struct ifreq ifr = {0};

	if (ask(interface, SIOCGIFFLAGS, &ifr) < 0)
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

static bool is_veth(const struct interface *interface)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq ifr = {.ifr_data = (void *)&info};

	return ask(interface, SIOCETHTOOL, &ifr) == 0 && strcmp(info.driver, "veth") == 0;
}

void interface_offloads(const struct interface *interface, char *text, size_t room)
{
	text[0] = '\0';
	if (interface->index == 0)
		return;
	if (is_veth(interface)) {
		/* The other end may be in a namespace that is not visible from here. A user who has
		 * set up this end usually has set up the other end alike. */
		if (feature(interface, ETHTOOL_GTXCSUM) || feature(interface, ETHTOOL_GTSO))
			snprintf(text, room,
			         "%s is one end of a veth pair with offloads on: if the other end "
			         "has "
			         "them on too, it hands over super-frames of up to 64 KiB, which "
			         "are "
			         "cut, and unfinished checksums; on both ends: ethtool -K IFACE tx "
			         "off",
			         interface->name);
		return;
	}
	if (feature(interface, ETHTOOL_GGRO) || (feature(interface, ETHTOOL_GFLAGS) & ETH_FLAG_LRO))
		snprintf(text, room,
		         "%s merges frames as they are received: they are cut to what fits; "
		         "ethtool -K %s gro off lro off",
		         interface->name, interface->name);
}
