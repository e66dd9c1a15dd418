/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/run_log.h"
#include "text/array.h"

#define PLACES_MAX 65536
#define RANGES     3
#define BITS4      24 /* of a network's prefix */
#define BITS6      64

struct place_range {
	uint8_t bytes[16], prefix;
};

static const struct place_range ranges4[RANGES] = {{{198, 18}, 15}, {{100, 64}, 10}, {{10}, 8}};
static const struct place_range ranges6[RANGES] = {{{0x20, 0x01, 0, 2}, 48}, {{0x3f, 0xff}, 48}};

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
static uint32_t place_of(const struct place_range *range, const struct address *address)
{
	uint32_t end = bits_of(address->family) / 8, place = 0;

	for (uint32_t i = range->prefix / 8; i < end; i++)
		place = place << 8 | address->bytes[i];
	return place & ((1u << (bits_of(address->family) - range->prefix)) - 1);
}

static struct address network_at(int family, const struct place_range *range, uint32_t place)
{
	struct address network = address_of(family, range->bytes);

	for (uint32_t i = bits_of(family) / 8; place > 0; place >>= 8)
		network.bytes[--i] |= (uint8_t)place;
	return network;
}

/* Returns true if a use is in the range, and no wider than it. */
static bool is_in(const struct place_range *range, int family, const struct exec_use *use)
{
	return use->network.family == family && use->prefix >= range->prefix &&
	       bits_equal(use->network.bytes, range->bytes, range->prefix);
}

/* Returns the first free network behind all addresses, or `places` if there is none. */
static uint32_t free_place(int family, const struct place_range *range, const struct exec_use *uses,
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
	const struct place_range *ranges = family == AF_INET ? ranges4 : ranges6;
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
	if (array_fits(&uses->all, &uses->room, uses->n + 1, sizeof(*use)))
		uses->all[uses->n++] = *use;
	else
		uses->no_memory = true;
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

#define CONF           "/etc/resolv.conf"
#define CONF_BYTES_MAX 4000 /* the command's may be a little longer */

static bool is_here_only(const union address_socket *at)
{
	if (at->any.sa_family == AF_INET)
		return ntohl(at->in.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&at->in6.sin6_addr) ||
	       IN6_IS_ADDR_LINKLOCAL(&at->in6.sin6_addr);
}

/* Parses an address, perhaps with a scope, as `fe80::1%eth0`: getaddrinfo reads that. */
static bool read_address(const char *text, union address_socket *at)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	                         .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;

	if (getaddrinfo(text, "53", &hints, &found) != 0)
		return false;
	memset(at, 0, sizeof(*at));
	memcpy(at, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

/* The text for the command, and the servers that it finds at the gateway. */
struct reading {
	const struct address *gateway;
	struct gateway_resolver *resolvers;
	uint32_t n;
	char *text;
	size_t used, room;
};

static void add_line(struct reading *reading, const char *line, int bytes)
{
	size_t left = reading->room - reading->used;

	if ((size_t)bytes + 2 < left)
		reading->used += (size_t)snprintf(reading->text + reading->used, left, "%.*s\n",
		                                  bytes, line);
}

/* Gives a server an address of the gateway's network. .2 is the command. */
static void add_here(struct reading *reading, const union address_socket *server)
{
	struct gateway_resolver *resolver = &reading->resolvers[reading->n];
	char line[INET6_ADDRSTRLEN + sizeof("nameserver ")], name[INET6_ADDRSTRLEN];

	if (reading->n == GATEWAY_RESOLVERS_MAX)
		return; /* no resolver asks it */
	resolver->server = *server;
	resolver->address = *reading->gateway;
	if (reading->n > 0)
		resolver->address.bytes[3] = (uint8_t)(2 + reading->n);
	reading->n++;
	inet_ntop(AF_INET, resolver->address.bytes, name, sizeof(name));
	add_line(reading, line, snprintf(line, sizeof(line), "nameserver %s", name));
}

uint32_t exec_resolver_read(const char *conf, bool here, const struct address *gateway,
                            struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                            size_t room)
{
	struct reading reading = {
	        .gateway = gateway, .resolvers = resolvers, .text = text, .room = room};
	const struct address loopback = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	union address_socket server;
	char word[128];
	bool any = false;

	for (const char *at = conf; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		int bytes = (int)strcspn(at, "\n");

		if (sscanf(at, "nameserver%*[ \t]%127s", word) != 1) {
			add_line(&reading, at, bytes);
			continue;
		}
		if (!read_address(word, &server))
			continue;
		any = true;
		if (is_here_only(&server))
			add_here(&reading, &server);
		else
			add_line(&reading, at, bytes);
	}
	server = address_socket(&loopback, 53);
	if (!any && here)
		add_here(&reading, &server);
	if (reading.n == 0)
		text[0] = '\0';
	return reading.n;
}

/* Returns true if a server of names listens at 127.0.0.1: an empty datagram is not refused. */
static bool listens_here(void)
{
	const struct address loopback = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	union address_socket to = address_socket(&loopback, 53);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;
	socklen_t bytes = sizeof(error);
	bool listens;

	if (fd < 0)
		return false;
	listens = connect(fd, &to.any, sizeof(to.in)) == 0 && send(fd, "", 0, MSG_DONTWAIT) == 0 &&
	          getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
	close(fd);
	return listens;
}

uint32_t exec_resolver_choose(const struct address *gateway,
                              struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                              size_t room)
{
	char conf[CONF_BYTES_MAX + 1] = "";
	FILE *file = fopen(CONF, "re");
	bool here;

	if (file) {
		conf[fread(conf, 1, CONF_BYTES_MAX, file)] = '\0';
		fclose(file);
	}
	here = listens_here();
	if (file || !here)
		return exec_resolver_read(conf, here, gateway, resolvers, text, room);
	run_log(RUN_LOG_WARNING, "there is no " CONF ", so the command cannot ask the resolver at "
	                         "127.0.0.1; create it: an empty file suffices");
	text[0] = '\0';
	return 0;
}
