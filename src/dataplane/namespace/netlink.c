/* SPDX-License-Identifier: BSD-3-Clause */
#include "namespace/netlink.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define ATTRIBUTES_MAX 256
#define LOOPBACK       1 /* the index of `lo` in every network namespace */

struct request {
	struct nlmsghdr header;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg address;
		struct ndmsg neighbour;
		struct rtmsg route;
		struct fib_rule_hdr rule;
	};
	uint8_t attributes[ATTRIBUTES_MAX];
};

int netlink_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return fd < 0 ? -errno : fd;
}

static void start(struct request *request, uint16_t type, uint16_t flags, uint32_t body_bytes)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	request->header.nlmsg_len = NLMSG_LENGTH(body_bytes);
}

static void add(struct request *request, uint16_t type, const void *value, uint32_t bytes)
{
	struct rtattr *at =
	        (struct rtattr *)((uint8_t *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	at->rta_type = type;
	at->rta_len = (uint16_t)RTA_LENGTH(bytes);
	memcpy(RTA_DATA(at), value, bytes);
	request->header.nlmsg_len =
	        NLMSG_ALIGN(request->header.nlmsg_len) + (uint32_t)RTA_ALIGN(RTA_LENGTH(bytes));
}

static void add_u32(struct request *request, uint16_t type, uint32_t value)
{
	add(request, type, &value, sizeof(value));
}

/* Sends a request and reads the answer. */
static int act(int netlink, struct request *request)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		uint8_t rest[1024];
	} answer;
	ssize_t got;

	if (send(netlink, request, request->header.nlmsg_len, 0) < 0)
		return -errno;
	got = recv(netlink, &answer, sizeof(answer), 0);
	if (got < 0)
		return -errno;
	if (answer.header.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return answer.error.error;
}

int netlink_up(int netlink, int index, const uint8_t mac[6], uint32_t mtu, uint32_t queue)
{
	struct request request;

	start(&request, RTM_NEWLINK, 0, sizeof(request.link));
	request.link.ifi_index = index;
	request.link.ifi_flags = request.link.ifi_change = IFF_UP;
	if (mac)
		add(&request, IFLA_ADDRESS, mac, 6);
	if (mtu)
		add_u32(&request, IFLA_MTU, mtu);
	if (queue)
		add_u32(&request, IFLA_TXQLEN, queue);
	return act(netlink, &request);
}

/* An attribute of attributes is written in place: libc's headers have no call for it. */
int netlink_gives_no_address(int netlink, int index)
{
	const struct {
		struct rtattr family;
		struct rtattr mode;
		uint8_t value, unused[RTA_ALIGN(1) - 1];
	} six = {.family = {.rta_type = AF_INET6, .rta_len = RTA_LENGTH(RTA_LENGTH(1))},
	         .mode = {.rta_type = IFLA_INET6_ADDR_GEN_MODE, .rta_len = RTA_LENGTH(1)},
	         .value = IN6_ADDR_GEN_MODE_NONE};
	struct request request;

	start(&request, RTM_SETLINK, 0, sizeof(request.link));
	request.link.ifi_index = index;
	add(&request, IFLA_AF_SPEC, &six, sizeof(six));
	return act(netlink, &request);
}

int netlink_address(int netlink, int index, const struct address *address, uint8_t prefix)
{
	struct request request;

	start(&request, RTM_NEWADDR, NLM_F_CREATE, sizeof(request.address));
	request.address.ifa_family = (uint8_t)address->family;
	request.address.ifa_prefixlen = prefix;
	request.address.ifa_index = (uint32_t)index;
	request.address.ifa_flags = address->family == AF_INET6 ? IFA_F_NODAD : 0;
	add(&request, IFA_LOCAL, address->bytes, address_bytes(address->family));
	add(&request, IFA_ADDRESS, address->bytes, address_bytes(address->family));
	return act(netlink, &request);
}

int netlink_neighbour(int netlink, int index, const struct address *address, const uint8_t mac[6])
{
	struct request request;

	start(&request, RTM_NEWNEIGH, NLM_F_CREATE, sizeof(request.neighbour));
	request.neighbour.ndm_family = (uint8_t)address->family;
	request.neighbour.ndm_ifindex = index;
	request.neighbour.ndm_state = NUD_PERMANENT;
	add(&request, NDA_DST, address->bytes, address_bytes(address->family));
	add(&request, NDA_LLADDR, mac, 6);
	return act(netlink, &request);
}

static void start_route(struct request *request, int family, uint8_t type, int index)
{
	start(request, RTM_NEWROUTE, NLM_F_CREATE, sizeof(request->route));
	request->route.rtm_family = (uint8_t)family;
	/* The kernel answers only for addresses in the table of local addresses. */
	request->route.rtm_table = type == RTN_UNICAST ? RT_TABLE_MAIN : RT_TABLE_LOCAL;
	request->route.rtm_protocol = RTPROT_STATIC;
	request->route.rtm_scope = type == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE;
	request->route.rtm_type = type;
	if (index)
		add_u32(request, RTA_OIF, (uint32_t)index);
}

int netlink_default_route(int netlink, int index, const struct address *via)
{
	struct request request;

	start_route(&request, via->family, RTN_UNICAST, index);
	add(&request, RTA_GATEWAY, via->bytes, address_bytes(via->family));
	return act(netlink, &request);
}

int netlink_everything_is_local(int netlink, const struct address *link, uint8_t prefix)
{
	struct address network = *link;
	struct request request;
	int rc;

	for (uint32_t bit = prefix; bit < address_bytes(link->family) * 8; bit++)
		network.bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	/* Lookups for these addresses continue in the next table. */
	start_route(&request, link->family, RTN_THROW, 0);
	request.route.rtm_dst_len = prefix;
	add(&request, RTA_DST, network.bytes, address_bytes(link->family));
	rc = act(netlink, &request);
	if (rc < 0)
		return rc;
	start_route(&request, link->family, RTN_LOCAL, LOOPBACK);
	return act(netlink, &request);
}

static bool leads_somewhere(const struct rtmsg *route)
{
	return (route->rtm_flags & RTM_F_CLONED) == 0 && route->rtm_type != RTN_UNREACHABLE &&
	       route->rtm_type != RTN_BLACKHOLE && route->rtm_type != RTN_PROHIBIT &&
	       route->rtm_type != RTN_THROW;
}

/* Reads the network of a route; without the attribute it is 0. */
static struct address network_of(const struct nlmsghdr *header)
{
	const struct rtmsg *route = NLMSG_DATA(header);
	int left = (int)RTM_PAYLOAD(header);
	struct address network = {.family = route->rtm_family};

	for (const struct rtattr *at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == RTA_DST && RTA_PAYLOAD(at) >= address_bytes(route->rtm_family))
			network = address_of(route->rtm_family, RTA_DATA(at));
	}
	return network;
}

int netlink_routes(int netlink, int family,
                   void (*each)(void *argument, const struct address *network, uint8_t prefix),
                   void *argument)
{
	union {
		struct nlmsghdr header;
		uint8_t bytes[32768];
	} answer;
	struct request request;
	ssize_t got;

	start(&request, RTM_GETROUTE, NLM_F_DUMP, sizeof(request.route));
	request.route.rtm_family = (uint8_t)family;
	if (send(netlink, &request, request.header.nlmsg_len, 0) < 0)
		return -errno;
	while ((got = recv(netlink, &answer, sizeof(answer), 0)) > 0) {
		const struct nlmsghdr *at = &answer.header;

		for (; NLMSG_OK(at, got); at = NLMSG_NEXT(at, got)) {
			const struct rtmsg *route = NLMSG_DATA(at);
			struct address network;

			if (at->nlmsg_type == NLMSG_ERROR)
				return ((const struct nlmsgerr *)NLMSG_DATA(at))->error;
			if (at->nlmsg_type == NLMSG_DONE)
				return 0;
			if (at->nlmsg_type != RTM_NEWROUTE || !leads_somewhere(route))
				continue;
			network = network_of(at);
			each(argument, &network, route->rtm_dst_len);
		}
	}
	return got < 0 ? -errno : -EPROTO;
}

/* Returns what IFLA_XDP_ATTACHED says: 0 is no program. */
static int xdp_attached(const struct rtattr *xdp)
{
	int left = (int)RTA_PAYLOAD(xdp);

	for (const struct rtattr *at = RTA_DATA(xdp); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == IFLA_XDP_ATTACHED && RTA_PAYLOAD(at) >= 1)
			return *(const uint8_t *)RTA_DATA(at);
	}
	return 0;
}

union link_answer {
	struct nlmsghdr header;
	uint8_t bytes[32768];
};

/* Asks for an attribute of an interface. Returns 0 or -errno; *found is NULL if it has none. */
static int ask_link(int netlink, int index, unsigned short type, union link_answer *answer,
                    const struct rtattr **found)
{
	struct request request;
	ssize_t got;
	int left;

	*found = NULL;
	start(&request, RTM_GETLINK, 0, sizeof(request.link));
	request.header.nlmsg_flags = NLM_F_REQUEST;
	request.link.ifi_index = index;
	if (send(netlink, &request, request.header.nlmsg_len, 0) < 0)
		return -errno;
	got = recv(netlink, answer, sizeof(*answer), 0);
	if (got < 0)
		return -errno;
	if (answer->header.nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(&answer->header))->error;
	left = (int)IFLA_PAYLOAD(&answer->header);
	for (const struct rtattr *at = IFLA_RTA(NLMSG_DATA(&answer->header)); RTA_OK(at, left);
	     at = RTA_NEXT(at, left)) {
		if ((at->rta_type & NLA_TYPE_MASK) == type)
			*found = at;
	}
	return 0;
}

int netlink_xdp(int netlink, int index)
{
	union link_answer answer;
	const struct rtattr *xdp;
	int rc = ask_link(netlink, index, IFLA_XDP, &answer, &xdp);

	return rc < 0 ? rc : xdp && xdp_attached(xdp) != XDP_ATTACHED_NONE;
}

int netlink_dropped(int netlink, int index, uint64_t *packets)
{
	union link_answer answer;
	const struct rtattr *found;
	struct rtnl_link_stats64 stats;
	int rc = ask_link(netlink, index, IFLA_STATS64, &answer, &found);

	if (rc < 0)
		return rc;
	if (!found || RTA_PAYLOAD(found) < offsetof(struct rtnl_link_stats64, multicast))
		return -EPROTO;
	memset(&stats, 0, sizeof(stats));
	memcpy(&stats, RTA_DATA(found),
	       RTA_PAYLOAD(found) < sizeof(stats) ? RTA_PAYLOAD(found) : sizeof(stats));
	*packets = stats.tx_dropped;
	return 0;
}

int netlink_silence_icmp(int netlink, int family)
{
	uint8_t protocol = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	struct request request;

	start(&request, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, sizeof(request.rule));
	request.rule.family = (uint8_t)family;
	request.rule.action = FR_ACT_BLACKHOLE;
	add_u32(&request, FRA_PRIORITY, 0);
	add(&request, FRA_IIFNAME, "lo", sizeof("lo")); /* applies to packets sent from here */
	add(&request, FRA_IP_PROTO, &protocol, sizeof(protocol));
	add_u32(&request, FRA_FWMARK, 0);
	add_u32(&request, FRA_FWMASK, 1);
	return act(netlink, &request);
}
