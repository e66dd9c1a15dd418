/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_place.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/exec_path.h"
#include "namespace/netlink.h"

#define PLACES_MAX 65536
#define RANGES     3
#define BITS4      24 /* of a network's prefix */
#define BITS6      64

struct range {
	uint8_t bytes[16], prefix;
};

static const struct range ranges4[RANGES] = {{{198, 18}, 15}, {{100, 64}, 10}, {{10}, 8}};
static const struct range ranges6[RANGES] = {{{0x20, 0x01, 0, 2}, 48}, {{0x3f, 0xff}, 48}};

struct uses {
	struct exec_use *all;
	size_t n, room;
	bool no_memory;
};

/* ---- the choice ---- */

static uint32_t bits_of(int family)
{
	return family == AF_INET ? BITS4 : BITS6;
}

static bool bits_equal(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
	uint8_t rest = (uint8_t)(0xff00 >> bits % 8);

	return memcmp(a, b, bits / 8) == 0 &&
	       (bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) & rest) == 0);
}

/* Returns which network of the range an address is in. */
static uint32_t place_of(const struct range *range, const struct address *address)
{
	uint32_t end = bits_of(address->family) / 8, place = 0;

	for (uint32_t i = range->prefix / 8; i < end; i++)
		place = place << 8 | address->bytes[i];
	return place & ((1u << (bits_of(address->family) - range->prefix)) - 1);
}

static struct address network_at(int family, const struct range *range, uint32_t place)
{
	struct address network = address_of(family, range->bytes);

	for (uint32_t i = bits_of(family) / 8; place > 0; place >>= 8)
		network.bytes[--i] |= (uint8_t)place;
	return network;
}

/* Returns true if a use is in the range, and no wider than it. */
static bool is_in(const struct range *range, int family, const struct exec_use *use)
{
	return use->network.family == family && use->prefix >= range->prefix &&
	       bits_equal(use->network.bytes, range->bytes, range->prefix);
}

/* Returns the first free network behind all addresses, or `places` if there is none. */
static uint32_t free_place(int family, const struct range *range, const struct exec_use *uses,
                           size_t n)
{
	uint32_t bits = bits_of(family), places = 1u << (bits - range->prefix), start = 0;
	bool used[PLACES_MAX];

	memset(used, 0, sizeof(used));
	for (size_t i = 0; i < n; i++) {
		uint32_t place, width = 1;

		if (!is_in(range, family, &uses[i]))
			continue;
		place = place_of(range, &uses[i].network);
		if (uses[i].address && place >= start)
			start = place + 1;
		if (uses[i].prefix < bits)
			width = 1u << (bits - uses[i].prefix);
		place -= place % width;
		memset(used + place, true, width * sizeof(used[0]));
	}
	for (uint32_t tried = 0; tried < places; tried++) {
		if (!used[(start + tried) % places])
			return (start + tried) % places;
	}
	return places;
}

int exec_place_free(int family, const struct exec_use *uses, size_t n, struct address *network,
                    struct problem *problem)
{
	const struct range *ranges = family == AF_INET ? ranges4 : ranges6;
	uint32_t first = 0;

	/* The networks of the surrounding ones are in this range and those before. */
	for (uint32_t i = 0; i < RANGES && ranges[i].prefix > 0; i++) {
		for (size_t use = 0; use < n; use++) {
			if (uses[use].weir && is_in(&ranges[i], family, &uses[use]))
				first = i;
		}
	}
	for (uint32_t i = first; i < RANGES && ranges[i].prefix > 0; i++) {
		uint32_t place = free_place(family, &ranges[i], uses, n);

		if (place < 1u << (bits_of(family) - ranges[i].prefix)) {
			*network = network_at(family, &ranges[i], place);
			return 0;
		}
	}
	problem_set(problem, -1,
	            "no network is left for the path: interfaces and routes of this machine use "
	            "all of %s",
	            family == AF_INET ? "198.18.0.0/15, 100.64.0.0/10 and 10.0.0.0/8"
	                              : "2001:2::/48 and 3fff::/48");
	return -EADDRINUSE;
}

/* ---- what this machine uses ---- */

static void add_use(struct uses *uses, const struct exec_use *use)
{
	size_t room = uses->room > 0 ? 2 * uses->room : 64;
	struct exec_use *more;

	if (uses->n == uses->room) {
		more = realloc(uses->all, room * sizeof(*more));
		if (!more) {
			uses->no_memory = true;
			return;
		}
		uses->all = more;
		uses->room = room;
	}
	uses->all[uses->n++] = *use;
}

static uint8_t prefix_of(const struct sockaddr *mask, int family)
{
	struct address bytes = {.family = family, .bytes = {0}};
	uint8_t prefix = 0;
	uint16_t port;

	if (!mask)
		return (uint8_t)(address_bytes(family) * 8);
	bytes = address_from((const union address_socket *)mask, &port);
	while (prefix < address_bytes(family) * 8 &&
	       (bytes.bytes[prefix / 8] & (0x80 >> prefix % 8)))
		prefix++;
	return prefix;
}

static int add_addresses(struct uses *uses, int family)
{
	struct ifaddrs *all;
	uint16_t port;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
		struct exec_use use = {.address = true};

		if (!at->ifa_addr || at->ifa_addr->sa_family != family)
			continue;
		use.network = address_from((const union address_socket *)at->ifa_addr, &port);
		use.prefix = prefix_of(at->ifa_netmask, family);
		use.weir = strcmp(at->ifa_name, EXEC_INTERFACE) == 0;
		add_use(uses, &use);
	}
	freeifaddrs(all);
	return 0;
}

static void add_route(void *argument, const struct address *network, uint8_t prefix)
{
	add_use(argument, &(struct exec_use){.network = *network, .prefix = prefix});
}

int exec_place_choose(int family, struct address *network, struct problem *problem)
{
	int netlink = netlink_open(), rc = netlink < 0 ? netlink : 0;
	struct uses uses = {0};

	if (rc == 0) {
		rc = netlink_routes(netlink, family, add_route, &uses);
		close(netlink);
	}
	if (rc == 0)
		rc = add_addresses(&uses, family);
	if (uses.no_memory)
		rc = -ENOMEM;
	if (rc == 0)
		rc = exec_place_free(family, uses.all, uses.n, network, problem);
	else
		problem_set(problem, -1, "the routes of this machine cannot be read: %s",
		            strerror(-rc));
	free(uses.all);
	return rc;
}
