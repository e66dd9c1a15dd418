/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map of an experiment: switches, the links between them, and the hosts at them.
 *
 * A link is duplex: two clouds, NAME and NAME.back, between two ports of its own, NAME.a and
 * NAME.b. Scenario language says what the clouds do to packets; the network says which clouds there
 * are, and carries packets between them. A switch takes the shortest way (fewest links, then the
 * link defined first), costs no time, and holds nothing. A host is at the end of an access link
 * (pipe.h).
 *
 * Addresses: 10.0.0.1 upward, in the order in which hosts are made; routers may have any other.
 * Limits: half as many links as a scenario has ports (32), 64 switches.
 *
 * Ownership: the network owns its hosts.
 * Thread: one.
 */
#ifndef WEIR_LAB_NETWORK_H
#define WEIR_LAB_NETWORK_H

#include <stdio.h>

#include "lab/frame.h"
#include "lab/pipe.h"
#include "scenario/scenario.h"

#define NETWORK_LINKS_MAX    (SCENARIO_PORTS_MAX / 2)
#define NETWORK_SWITCHES_MAX 64
#define NETWORK_NO_WAY       UINT32_MAX

struct world;

struct network_link {
	char name[SCENARIO_NAME_BYTES];
	uint32_t ends[2]; /* switches */
};

/* The receiver at a port of a host. */
struct listener {
	uint16_t port;
	void (*receive)(void *argument, const struct frame *frame, simtime now);
	void *argument;
};

struct host {
	struct world *world;
	uint32_t address, at; /* at: its switch */
	uint64_t sent;        /* IPv4 packets, which this numbers */
	uint64_t *arrived;    /* bits of these packets (worker.h); NULL: nobody counts them */
	struct pipe up, down;
	uint16_t first_port;
	struct listener *listeners; /* port first_port + index */
	uint32_t n_listeners, listeners_room;
};

struct network {
	char switches[NETWORK_SWITCHES_MAX][SCENARIO_NAME_BYTES];
	uint32_t n_switches;
	struct network_link links[NETWORK_LINKS_MAX];
	uint32_t n_links;
	/* The port at which the way from one switch to another begins, or NETWORK_NO_WAY. */
	uint32_t way[NETWORK_SWITCHES_MAX][NETWORK_SWITCHES_MAX];
	uint32_t hops[NETWORK_SWITCHES_MAX][NETWORK_SWITCHES_MAX];
	struct host **hosts;
	uint32_t n_hosts, hosts_room;
};

/* Link i has the ports 2i (at ends[0]) and 2i + 1. */
static inline uint32_t network_port_switch(const struct network *network, uint32_t port)
{
	return network->links[port / 2].ends[port % 2];
}

/* Returns the index of a switch, which is made if there is none of that name; or -ENOSPC, or
 * -EINVAL (name). */
int network_switch(struct network *network, const char *name);
/* Returns the index of a switch, or -ENOENT. */
int network_find_switch(const struct network *network, const char *name);
/* Returns 0, or -EEXIST, -ENOSPC, or -EINVAL (a name that clouds cannot have, or a link to
 * itself). */
int network_add_link(struct network *network, const char *name, uint32_t from, uint32_t to);
/* Returns true if this is the name of a cloud: that of a link, or NAME.back. */
bool network_has_cloud(const struct network *network, const char *name);
/* Computes the ways. Call it when all links are there. */
void network_route(struct network *network);
/* Prints the `port` and `cloud` lines of the links. */
void network_print(const struct network *network, FILE *out);
void network_release(struct network *network);

#endif
