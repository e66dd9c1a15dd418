/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/obstacle.h"

#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void obstacle_add(struct obstacles *obstacles, const char *format, ...)
{
	va_list arguments;

	if (obstacles->n == OBSTACLES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(obstacles->texts[obstacles->n++], OBSTACLE_BYTES, format, arguments);
	va_end(arguments);
}

static void add_down(const struct interface_look *look, struct obstacles *obstacles)
{
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
	add_down(look, obstacles);
	add_users(look, obstacles);
	if (by_driver)
		add_offloads(look, obstacles);
}
