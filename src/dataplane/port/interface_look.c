/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/interface_look.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdint.h>
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

/* Requests the link's attributes by netlink. /sys shows the interfaces of one network namespace
 * only, and not always this one's. */
static int ask_link(unsigned index, char *answer, size_t room)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
	} request = {.header = {.nlmsg_len = sizeof(request),
	                        .nlmsg_type = RTM_GETLINK,
	                        .nlmsg_flags = NLM_F_REQUEST},
	             .link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index}};
	const struct timeval patience = {.tv_sec = 1};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t bytes = -1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, &request, sizeof(request), 0) == sizeof(request))
		bytes = recv(fd, answer, room, 0);
	close(fd);
	return (int)bytes;
}

static void look_for_master(struct interface_look *look)
{
	_Alignas(struct nlmsghdr) char answer[16384];
	int bytes = ask_link(if_nametoindex(look->name), answer, sizeof(answer));
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	const struct rtattr *attribute;
	int left;

	if (bytes < 0 || !NLMSG_OK(header, (unsigned)bytes) || header->nlmsg_type != RTM_NEWLINK)
		return;
	attribute = IFLA_RTA(NLMSG_DATA(header));
	left = (int)IFLA_PAYLOAD(header);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		uint32_t master;

		if (attribute->rta_type != IFLA_MASTER)
			continue;
		memcpy(&master, RTA_DATA(attribute), sizeof(master));
		if (!if_indextoname(master, look->master))
			look->master[0] = '\0';
	}
}

void interface_look(const char *name, struct interface_look *look)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memset(look, 0, sizeof(*look));
	snprintf(look->name, sizeof(look->name), "%s", name);
	look->there = if_nametoindex(name) > 0;
	if (fd < 0 || !look->there) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* If `name` is an alternative name, the requests need the kernel's own. */
	if_indextoname(if_nametoindex(name), look->name);
	memcpy(ifr.ifr_name, look->name, IFNAMSIZ);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0) {
		look->up = ifr.ifr_flags & IFF_UP;
		look->carrier = look->up && (ifr.ifr_flags & IFF_RUNNING);
	}
	if (ioctl(fd, SIOCGIFMTU, &ifr) == 0)
		look->mtu = ifr.ifr_mtu;
	ifr.ifr_data = (void *)&driver;
	if (ioctl(fd, SIOCETHTOOL, &ifr) == 0)
		snprintf(look->driver, sizeof(look->driver), "%.31s", driver.driver);
	close(fd);
	look_for_master(look);
	look_for_address(look);
}

void interface_look_text(const struct interface_look *look, char *text, size_t room)
{
	snprintf(text, room, "interface %s (%s%sMTU %d)", look->name, look->driver,
	         look->driver[0] ? ", " : "", look->mtu);
}

void interface_look_down(const struct interface_look *look, char *text, size_t room)
{
	text[0] = '\0';
	if (!look->up)
		snprintf(
		        text, room,
		        "interface %s is down: no packet passes until it is up (ip link set %s up)",
		        look->name, look->name);
	else if (!look->carrier)
		snprintf(text, room,
		         "interface %s has no carrier: no packet passes until its other end is up, "
		         "or its cable is plugged in",
		         look->name);
}

bool interface_look_xdp(const struct interface_look *look)
{
	for (size_t i = 0; i < sizeof(xdp_drivers) / sizeof(xdp_drivers[0]); i++) {
		if (strcmp(look->driver, xdp_drivers[i]) == 0)
			return true;
	}
	return false;
}

int interface_look_rights(char *text, size_t room)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), bytes = 4096, rc = 0;

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
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 &&
	    errno == EPERM) {
		snprintf(text, room,
		         "without CAP_NET_ADMIN the receive buffer is smaller (net.core.rmem_max), "
		         "and merged frames are cut again instead of arriving unmerged: setcap "
		         "cap_net_raw,cap_net_admin+ep %s",
		         cpu_level_program());
		rc = -EPERM;
	}
	close(fd);
	return rc;
}
