/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX_BYTES 5 /* `.back` */

static bool is_name(const char *text)
{
	size_t letters = strlen(text);

	return letters > 0 && letters + SUFFIX_BYTES < SCENARIO_NAME_BYTES;
}

int network_find_switch(const struct network *network, const char *name)
{
	for (uint32_t i = 0; i < network->n_switches; i++)
		if (strcmp(network->switches[i], name) == 0)
			return (int)i;
	return -ENOENT;
}

int network_switch(struct network *network, const char *name)
{
	int found = network_find_switch(network, name);

	if (found >= 0)
		return found;
	if (!is_name(name))
		return -EINVAL;
	if (network->n_switches == NETWORK_SWITCHES_MAX)
		return -ENOSPC;
	strcpy(network->switches[network->n_switches], name);
	return (int)network->n_switches++;
}

static int network_find_link(const struct network *network, const char *name)
{
	for (uint32_t i = 0; i < network->n_links; i++)
		if (strcmp(network->links[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

int network_add_link(struct network *network, const char *name, uint32_t from, uint32_t to)
{
	struct network_link *link = &network->links[network->n_links];

	if (network_find_link(network, name) >= 0)
		return -EEXIST;
	if (!is_name(name) || from == to)
		return -EINVAL;
	if (network->n_links == NETWORK_LINKS_MAX)
		return -ENOSPC;
	strcpy(link->name, name);
	link->ends[0] = from;
	link->ends[1] = to;
	network->n_links++;
	return 0;
}

bool network_has_cloud(const struct network *network, const char *name)
{
	for (uint32_t i = 0; i < network->n_links; i++) {
		size_t bytes = strlen(network->links[i].name);

		if (strncmp(name, network->links[i].name, bytes) == 0 &&
		    (!name[bytes] || strcmp(name + bytes, ".back") == 0))
			return true;
	}
	return false;
}

/* Returns true if the way from the switch at the end of `port` has fewer links to the target than
 * the way from the port's own switch. */
static bool leads_nearer(const struct network *network, uint32_t port, uint32_t target)
{
	const uint32_t here = network_port_switch(network, port);
	const uint32_t there = network_port_switch(network, port ^ 1);

	return network->hops[there][target] != NETWORK_NO_WAY &&
	       network->hops[there][target] < network->hops[here][target];
}

/* Counts the links from each switch to one (Bellman-Ford). */
static void count_hops(struct network *network, uint32_t target)
{
	bool better = true;

	for (uint32_t i = 0; i < network->n_switches; i++)
		network->hops[i][target] = NETWORK_NO_WAY;
	network->hops[target][target] = 0;
	while (better) {
		better = false;
		for (uint32_t port = 0; port < 2 * network->n_links; port++) {
			uint32_t *here = &network->hops[network_port_switch(network, port)][target];
			uint32_t there =
			        network->hops[network_port_switch(network, port ^ 1)][target];

			if (there == NETWORK_NO_WAY || there + 1 >= *here)
				continue;
			*here = there + 1;
			better = true;
		}
	}
}

/* Computes the ways to one switch: each begins at the first port that leads nearer. */
static void route_to(struct network *network, uint32_t target)
{
	count_hops(network, target);
	for (uint32_t i = 0; i < network->n_switches; i++)
		network->way[i][target] = NETWORK_NO_WAY;
	for (uint32_t port = 2 * network->n_links; port-- > 0;) {
		if (leads_nearer(network, port, target))
			network->way[network_port_switch(network, port)][target] = port;
	}
}

void network_route(struct network *network)
{
	for (uint32_t target = 0; target < network->n_switches; target++)
		route_to(network, target);
}

void network_print(const struct network *network, FILE *out)
{
	for (uint32_t i = 0; i < network->n_links; i++)
		fprintf(out, "port %s.a\nport %s.b\n", network->links[i].name,
		        network->links[i].name);
	for (uint32_t i = 0; i < network->n_links; i++) {
		const char *name = network->links[i].name;

		fprintf(out, "cloud %s from %s.a to %s.b\n", name, name, name);
		fprintf(out, "cloud %s.back from %s.b to %s.a\n", name, name, name);
	}
}

void network_release(struct network *network)
{
	for (uint32_t i = 0; i < network->n_hosts; i++) {
		struct host *host = network->hosts[i];

		pipe_release(&host->up);
		pipe_release(&host->down);
		free(host->arrived);
		free(host->listeners);
		free(host);
	}
	free(network->hosts);
	network->hosts = NULL;
	network->n_hosts = network->hosts_room = 0;
}
