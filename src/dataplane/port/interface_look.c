/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/interface_look.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine/cpu_level.h"

/* Drivers that implement zero-copy AF_XDP (ndo_xsk_wakeup) in Linux 6.1 or later. veth, virtio_net
 * and others run XDP programs, and copy each packet to user space as a packet socket does. */
static const char *const xdp_drivers[] = {"i40e",      "ixgbe", "ice",  "igc",    "igb",
                                          "mlx5_core", "nfp",   "idpf", "stmmac", "tsnep"};

/* Returns true for the addresses that the kernel gives each interface: fe80::/10. */
static bool is_link_local(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void look_for_address(struct interface_look *look)
{
	struct ifaddrs *all, *one;

	if (getifaddrs(&all) < 0)
		return;
	for (one = all; one; one = one->ifa_next) {
		const struct sockaddr *address = one->ifa_addr;
		const void *bytes;

		if (!address || strcmp(one->ifa_name, look->name) != 0 ||
		    (address->sa_family != AF_INET && address->sa_family != AF_INET6) ||
		    is_link_local(address))
			continue;
		bytes = address->sa_family == AF_INET
		                ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
		                : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
		if (inet_ntop(address->sa_family, bytes, look->address, sizeof(look->address)))
			break;
	}
	freeifaddrs(all);
}

/* What the kernel says of a link. */
struct link {
	int index;
	uint16_t type;
	uint32_t flags, mtu, master;
	char name[IFNAMSIZ];
};

/* Sends a request for one link's attributes, and reads the answer. /sys shows the interfaces of one
 * network namespace only, and not always this one's. Returns the bytes of the answer, or -1. */
static int converse(const struct nlmsghdr *request, char *answer, size_t room)
{
	const struct timeval patience = {.tv_sec = 1};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t bytes = -1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, request, request->nlmsg_len, 0) == (ssize_t)request->nlmsg_len)
		bytes = recv(fd, answer, room, 0);
	close(fd);
	return (int)bytes;
}

static void read_attribute(const struct rtattr *attribute, struct link *link)
{
	switch (attribute->rta_type) {
	case IFLA_IFNAME:
		snprintf(link->name, sizeof(link->name), "%s", (const char *)RTA_DATA(attribute));
		break;
	case IFLA_MTU:
		memcpy(&link->mtu, RTA_DATA(attribute), sizeof(link->mtu));
		break;
	case IFLA_MASTER:
		memcpy(&link->master, RTA_DATA(attribute), sizeof(link->master));
		break;
	}
}

/* Looks for a link by a name of its own or an alternative one. Linux before 5.5 does not know the
 * latter. */
static bool link_ask(const char *name, struct link *link)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
		struct rtattr attribute;
		char name[INTERFACE_NAME_BYTES];
	} request = {.header = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
	             .info = {.ifi_family = AF_UNSPEC}};
	_Alignas(struct nlmsghdr) char answer[16384];
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	const struct ifinfomsg *info = NLMSG_DATA(header);
	const struct rtattr *attribute;
	size_t room = strlen(name) + 1;
	int bytes, left;

	memset(link, 0, sizeof(*link));
	if (room == 1 || room > sizeof(request.name))
		return false;
	memcpy(request.name, name, room);
	request.attribute.rta_type = room > IFNAMSIZ ? IFLA_ALT_IFNAME : IFLA_IFNAME;
	request.attribute.rta_len = (unsigned short)RTA_LENGTH(room);
	request.header.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof(request.info)) + RTA_SPACE(room));
	bytes = converse(&request.header, answer, sizeof(answer));
	if (bytes < 0 || !NLMSG_OK(header, (unsigned)bytes) || header->nlmsg_type != RTM_NEWLINK)
		return false;
	link->index = info->ifi_index;
	link->type = info->ifi_type;
	link->flags = info->ifi_flags;
	attribute = IFLA_RTA(info);
	left = (int)IFLA_PAYLOAD(header);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		read_attribute(attribute, link);
	return link->index > 0 && link->name[0];
}

/* Tries the whole name first: a name of the kernel's may have an `@`, too. */
static bool link_find(const char *wanted, struct link *link)
{
	char name[INTERFACE_NAME_BYTES];
	size_t bytes = strcspn(wanted, "@");

	if (link_ask(wanted, link))
		return true;
	if (!wanted[bytes] || bytes >= sizeof(name))
		return false;
	memcpy(name, wanted, bytes);
	name[bytes] = '\0';
	return link_ask(name, link);
}

unsigned interface_find(const char *wanted, char name[IFNAMSIZ])
{
	struct link link;

	if (!link_find(wanted, &link))
		return 0;
	memcpy(name, link.name, IFNAMSIZ);
	return (unsigned)link.index;
}

void interface_look(const char *wanted, struct interface_look *look)
{
	struct link link;

	memset(look, 0, sizeof(*look));
	snprintf(look->name, sizeof(look->name), "%s", wanted);
	if (!link_find(wanted, &link))
		return;
	memcpy(look->name, link.name, IFNAMSIZ);
	look->there = true;
	look->index = link.index;
	look->up = link.flags & IFF_UP;
	look->carrier = look->up && (link.flags & IFF_RUNNING);
	look->mtu = link.mtu;
	look->hardware_type = link.type;
	look->point_to_point = link.flags & IFF_POINTOPOINT;
	if (link.master == 0 || !if_indextoname(link.master, look->master))
		look->master[0] = '\0';
	/* The driver. */
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq ifr = {.ifr_data = (void *)&driver};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(ifr.ifr_name, look->name, IFNAMSIZ);
	if (fd >= 0 && ioctl(fd, SIOCETHTOOL, &ifr) == 0)
		snprintf(look->driver, sizeof(look->driver), "%.31s", driver.driver);
	if (fd >= 0)
		close(fd);
	look_for_address(look);
	if (look->address[0]) {
		/* Does the kernel forward what comes there? */
		char path[64 + IFNAMSIZ];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%s/forwarding",
		         strchr(look->address, ':') ? "ipv6" : "ipv4", look->name);
		file = fopen(path, "re");
		look->forwards = file && fgetc(file) == '1';
		if (file)
			fclose(file);
	}
}

enum interface_carries interface_look_carries(const struct interface_look *look)
{
	switch (look->hardware_type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
		return CARRIES_ETHERNET;
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
		return CARRIES_IP;
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		/* Otherwise each packet has the outer header, too. */
		return look->point_to_point ? CARRIES_IP : CARRIES_OTHER;
	}
	return CARRIES_OTHER;
}

void interface_look_text(const struct interface_look *look, char *text, size_t room)
{
	snprintf(text, room, "interface %s (%s%sMTU %u%s)", look->name, look->driver,
	         look->driver[0] ? ", " : "", look->mtu,
	         interface_look_carries(look) == CARRIES_IP ? ", IP without Ethernet" : "");
}

void interface_look_refusal(const struct interface_look *look, char *text, size_t room)
{
	text[0] = '\0';
	if (interface_look_carries(look) == CARRIES_OTHER)
		snprintf(
		        text, room,
		        "interface %s carries neither Ethernet frames nor IP packets (its hardware "
		        "type is %u, see linux/if_arp.h), and weir takes nothing else",
		        look->name, look->hardware_type);
}

bool interface_look_xdp(const struct interface_look *look)
{
	for (size_t i = 0; i < sizeof(xdp_drivers) / sizeof(xdp_drivers[0]); i++) {
		if (strcmp(look->driver, xdp_drivers[i]) == 0)
			return true;
	}
	return false;
}

bool interface_look_is_limited(int fd)
{
	int bytes = 4096;

	return setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 &&
	       errno == EPERM;
}

void interface_look_limited(char *text, size_t room)
{
	snprintf(text, room,
	         "without CAP_NET_ADMIN the receive buffer is smaller (net.core.rmem_max), and "
	         "merged frames are cut again instead of arriving unmerged: setcap "
	         "cap_net_raw,cap_net_admin+ep %s",
	         cpu_level_program());
}

int interface_look_rights(char *text, size_t room)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), rc = 0;

	text[0] = '\0';
	if (fd < 0 && (errno == EPERM || errno == EACCES)) {
		snprintf(text, room,
		         "no permission for packet sockets: run as root, or give the program the "
		         "capabilities: setcap cap_net_raw,cap_net_admin+ep %s",
		         cpu_level_program());
		return -EPERM;
	}
	if (fd < 0)
		return 0;
	if (interface_look_is_limited(fd)) {
		interface_look_limited(text, room);
		rc = -EPERM;
	}
	close(fd);
	return rc;
}

void obstacle_add(struct obstacles *obstacles, const char *format, ...)
{
	va_list arguments;

	if (obstacles->n == OBSTACLES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(obstacles->texts[obstacles->n++], OBSTACLE_BYTES, format, arguments);
	va_end(arguments);
}

static void add_users(const struct interface_look *look, struct obstacles *obstacles)
{
	const char *name = look->name;

	if (look->master[0])
		obstacle_add(obstacles,
		             "interface %s belongs to %s, which takes its packets: ip link set %s "
		             "nomaster",
		             name, look->master, name);
	if (look->hardware_type == ARPHRD_LOOPBACK)
		obstacle_add(
		        obstacles,
		        "interface %s is the loopback: the kernel delivers its packets itself, and "
		        "weir only gets copies; `weir exec` puts a command behind a path",
		        name);
	else if (look->address[0])
		obstacle_add(obstacles,
		             "interface %s has an address of this machine, %s: the kernel answers "
		             "there, "
		             "too%s; remove it (ip addr del), or move the interface into a network "
		             "namespace",
		             name, look->address,
		             look->forwards ? ", and forwards packets past weir" : "");
}

static uint32_t feature(int fd, const char *name, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	struct ifreq ifr = {.ifr_data = (void *)&value};

	memcpy(ifr.ifr_name, name, IFNAMSIZ);
	return ioctl(fd, SIOCETHTOOL, &ifr) == 0 ? value.data : 0;
}

static void add_offloads(const struct interface_look *look, struct obstacles *obstacles)
{
	const char *name = look->name;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (strcmp(look->driver, "veth") != 0) {
		if (feature(fd, name, ETHTOOL_GGRO) ||
		    (feature(fd, name, ETHTOOL_GFLAGS) & ETH_FLAG_LRO))
			obstacle_add(
			        obstacles,
			        "%s merges frames as they are received: they are cut to what fits; "
			        "ethtool -K %s gro off lro off",
			        name, name);
	} else if (feature(fd, name, ETHTOOL_GTXCSUM) || feature(fd, name, ETHTOOL_GTSO)) {
		/* The other end may be in a namespace that is not visible from here. A user who has
		 * set up this end usually has set up the other end alike. */
		obstacle_add(obstacles,
		             "%s is one end of a veth pair with offloads on: if the other end has "
		             "them on "
		             "too, it hands over super-frames of up to 64 KiB, which are cut, and "
		             "unfinished checksums; on both ends: ethtool -K IFACE tx off",
		             name);
	}
	close(fd);
}

void obstacles_find(const struct interface_look *look, bool by_driver, struct obstacles *obstacles)
{
	obstacles->n = 0;
	if (!look->there)
		return;
	const char *name = look->name;

	if (!look->up)
		obstacle_add(
		        obstacles,
		        "interface %s is down: no packet passes until it is up (ip link set %s up)",
		        name, name);
	else if (!look->carrier)
		obstacle_add(obstacles,
		             "interface %s has no carrier: no packet passes until its other end is "
		             "up, or "
		             "its cable is plugged in",
		             name);
	add_users(look, obstacles);
	if (by_driver)
		add_offloads(look, obstacles);
}
