/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "namespace/namespace.h"
#include "namespace/netlink.h"
#include "port/tap_port.h"

#define QUEUE_FRAMES 10000
#define MTU_DEFAULT  1500
#define MTU_MIN      1280 /* of IPv6 */
#define MTU_MAX      9000
#define ECHO_BYTES   (4u << 20)

static const uint8_t macs[PATH_ENDS][6] = {{0x02, 0, 0, 0, 0, 1}, {0x02, 0, 0, 0, 0, 2}};

/* ---- properties of this machine ---- */

/* Returns the MTU of the route to a distant address, or 0 if there is none. Sends nothing. */
static uint32_t route_mtu(int family)
{
	static const uint8_t ipv4[] = {192, 0, 2,
	                               1}; /* for documentation: not on this machine's link */
	static const uint8_t ipv6[16] = {0x20, 0x01, 0x48, 0x60};
	struct address address = address_of(family, family == AF_INET ? ipv4 : ipv6);
	union address_socket to = address_socket(&address, 9);
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), mtu = 0;
	socklen_t bytes = sizeof(mtu);

	if (fd < 0)
		return 0;
	if (connect(fd, &to.any, address_socket_bytes(family)) < 0 ||
	    getsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
	               family == AF_INET ? IP_MTU : IPV6_MTU, &mtu, &bytes) < 0)
		mtu = 0;
	close(fd);
	return (uint32_t)mtu;
}

/* Returns 0, or -errno with problem. */
static int choose_addresses(struct exec_path *path, bool ipv6, struct problem *problem)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct address network;
	int rc = 0;

	for (unsigned family = 0; rc == 0 && family < (ipv6 ? 2u : 1u); family++) {
		rc = exec_place_choose(families[family], &network, problem);
		for (uint32_t end = 0; rc == 0 && end < PATH_ENDS; end++) {
			path->address[end][family] = network;
			path->address[end][family].bytes[address_bytes(network.family) - 1] =
			        (uint8_t)(end + 1);
		}
	}
	return rc;
}

/* ---- one end ---- */

struct set_up {
	const struct exec_path *path;
	uint32_t end;
	int index;
	uint32_t mtu;
	bool gateway; /* this is the gateway's end */
	char ecn[8];  /* this machine's net.ipv4.tcp_ecn; "": unknown */
};

static int set_family(const struct set_up *set_up, int netlink, unsigned family)
{
	const struct address *address = &set_up->path->address[set_up->end][family];
	const struct address *peer = &set_up->path->address[!set_up->end][family];
	uint8_t prefix = family == 0 ? 24 : 64;
	int rc;

	if (address->family == 0)
		return 0;
	rc = netlink_address(netlink, set_up->index, address, prefix);
	if (rc == 0)
		rc = netlink_neighbour(netlink, set_up->index, peer, macs[!set_up->end]);
	if (rc < 0)
		return rc;
	if (!set_up->gateway)
		return netlink_default_route(netlink, set_up->index, peer);
	rc = netlink_everything_is_local(netlink, address, prefix);
	return rc < 0 ? rc : netlink_silence_icmp(netlink, address->family);
}

/* The resolvers that have no address of their own inside: a further one of the gateway. */
static int set_resolvers(const struct set_up *set_up, int netlink)
{
	const struct exec_path *path = set_up->path;
	int rc = 0;

	for (uint32_t i = 1; rc == 0 && i < path->n_resolvers; i++) {
		const struct address *address = &path->resolvers[i].address;

		rc = set_up->gateway ? netlink_address(netlink, set_up->index, address, 32)
		                     : netlink_neighbour(netlink, set_up->index, address,
		                                         macs[!set_up->end]);
	}
	return rc;
}

static int set_up_end(void *argument)
{
	const struct set_up *set_up = argument;
	int netlink = netlink_open(), rc;
	char groups[32];

	if (netlink < 0)
		return netlink;
	/* Keeps the kernel from sending packets of its own, and allows this group to ping. */
	namespace_sysctl_write("ipv6/conf/" EXEC_INTERFACE "/addr_gen_mode", "1");
	namespace_sysctl_write("ipv6/conf/" EXEC_INTERFACE "/router_solicitations", "0");
	namespace_sysctl_write("ipv6/conf/" EXEC_INTERFACE "/accept_ra", "0");
	namespace_sysctl_write("ipv6/conf/" EXEC_INTERFACE "/mldv2_unsolicited_report_interval",
	                       "2000000000");
	snprintf(groups, sizeof(groups), "%u %u", getegid(), getegid());
	namespace_sysctl_write("ipv4/ping_group_range", groups);
	/* The command's TCP asks for ECN as that of this machine. The gateway keeps the kernel's
	 * default: it accepts ECN if it is asked. */
	if (!set_up->gateway)
		namespace_sysctl_write("ipv4/tcp_ecn", set_up->ecn);
	rc = netlink_up(netlink, set_up->index, macs[set_up->end], set_up->mtu, QUEUE_FRAMES);
	for (unsigned family = 0; rc == 0 && family < 2; family++)
		rc = set_family(set_up, netlink, family);
	if (rc == 0)
		rc = set_resolvers(set_up, netlink);
	close(netlink);
	return rc;
}

static int open_end(struct exec_path *path, struct set_up *set_up, struct problem *problem)
{
	struct tap_end *end = &path->ends[set_up->end];
	int rc;

	end->net = namespace_make_net(problem);
	if (end->net < 0)
		return end->net;
	rc = tap_end_open(end, EXEC_INTERFACE, set_up->end == PATH_FAR ? path->opening[0] : -1,
	                  problem);
	if (rc < 0)
		return rc;
	set_up->index = end->index;
	rc = namespace_run(end->net, set_up_end, set_up);
	if (rc < 0)
		problem_set(problem, -1, "the %s end of the path cannot be set up: %s",
		            set_up->end == PATH_NEAR ? "command's" : "far", strerror(-rc));
	return rc;
}

/* ---- the path ---- */

static int open_ends(struct exec_path *path, bool between, struct problem *problem)
{
	uint32_t mtu4 = route_mtu(AF_INET), mtu6 = route_mtu(AF_INET6);
	uint32_t mtu = between || mtu4 + mtu6 == 0 ? MTU_DEFAULT : mtu4 ? mtu4 : mtu6;
	int rc = choose_addresses(
	        path, access("/proc/net/if_inet6", F_OK) == 0 && (between || mtu6 > 0), problem);

	if (rc == 0 && !between)
		path->n_resolvers =
		        exec_resolver_choose(&path->address[PATH_FAR][0], path->resolvers,
		                             path->around.resolver, sizeof(path->around.resolver));
	mtu = mtu < MTU_MIN ? MTU_MIN : mtu > MTU_MAX ? MTU_MAX : mtu;
	for (uint32_t end = 0; rc == 0 && end < PATH_ENDS; end++) {
		struct set_up set_up = {.path = path,
		                        .end = end,
		                        .mtu = mtu,
		                        .gateway = !between && end == PATH_FAR};

		namespace_sysctl_read("ipv4/tcp_ecn", set_up.ecn, sizeof(set_up.ecn));
		rc = open_end(path, &set_up, problem);
	}
	return rc;
}

static void name_ends(struct exec_path *path)
{
	char *at = path->around.hosts, text[INET6_ADDRSTRLEN];
	size_t room = sizeof(path->around.hosts);

	for (uint32_t end = 0; end < PATH_ENDS; end++) {
		for (unsigned family = 0; family < 2; family++) {
			const struct address *address = &path->address[end][family];
			int n;

			if (address->family == 0)
				continue;
			n = snprintf(at, room, "%s %s\n",
			             inet_ntop(address->family, address->bytes, text, sizeof(text)),
			             end == PATH_FAR ? "A" : "B");
			at += n;
			room -= (size_t)n;
		}
	}
}

int exec_path_open(bool between, struct exec_path *path, struct problem *problem)
{
	int rc, room = ECHO_BYTES;

	memset(path, 0, sizeof(*path));
	path->opening[0] = path->opening[1] = -1;
	for (uint32_t end = 0; end < PATH_ENDS; end++)
		path->ends[end] = tap_end_none;
	if (!between) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, path->opening) < 0) {
			rc = -errno;
			problem_set(problem, -1, "cannot create a socket for the way out: %s",
			            strerror(-rc));
			return rc;
		}
		setsockopt(path->opening[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	}
	rc = open_ends(path, between, problem);
	if (rc == 0 && between)
		name_ends(path);
	if (rc < 0)
		exec_path_close(path);
	return rc;
}

int exec_path_let_out(struct exec_path *path, const struct priority *priority,
                      struct problem *problem)
{
	const struct tap_end *far = &path->ends[PATH_FAR];
	struct gateway_options options = {
	        .net = far->net,
	        .tap = far->tap,
	        .opening = path->opening[1],
	        .gateway = {path->address[PATH_FAR][0], path->address[PATH_FAR][1]},
	        .n_resolvers = path->n_resolvers,
	        .priority = *priority};

	memcpy(options.resolvers, path->resolvers, sizeof(options.resolvers));
	if (path->opening[1] < 0)
		return 0;
	return gateway_start(&options, &path->gateway, problem);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void exec_path_close(struct exec_path *path)
{
	gateway_stop(path->gateway);
	path->gateway = NULL;
	for (uint32_t end = 0; end < PATH_ENDS; end++)
		tap_end_close(&path->ends[end]);
	close_fd(&path->opening[0]);
	close_fd(&path->opening[1]);
}
