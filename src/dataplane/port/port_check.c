/* SPDX-License-Identifier: BSD-3-Clause */
/* What device texts mean, and which ports cannot be open together. */
#include "port/port.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "port/device_text.h"

bool port_is_pci(const char *device)
{
	return device && pci_device_is(device);
}

bool port_any_pci(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		if (port_is_pci(scenario->ports[i].device))
			return true;
	}
	return false;
}

int port_check_pci(const struct scenario *scenario, struct problem *problem)
{
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct port_conf *conf = &scenario->ports[i];
		struct problem why;
		int rc;

		if (!port_is_pci(conf->device))
			continue;
		rc = pci_device_check(conf->device, &why);
		if (rc < 0) {
			problem_set(problem, -1, "port %s: %s", conf->name, why.text);
			problem->port = i + 1;
			return rc;
		}
	}
	return 0;
}

bool port_text_is_file(const char *device)
{
	return strncmp(device, "file:", 5) == 0;
}

bool port_text_is_interface(const char *device)
{
	uint16_t id;

	return device_text_interface(device) && rte_eth_dev_get_port_by_name(device, &id) != 0;
}

int port_check_room(const struct scenario *scenario, struct problem *problem)
{
	uint32_t room = RTE_MAX_ETHPORTS - rte_eth_dev_count_total(), wanted = 0;

	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;
		uint16_t id;

		/* What this process has made is open already (port_offer). */
		if (!device || port_text_is_file(device) || tap_port_is(device) ||
		    around_side_interface(device) || port_text_is_interface(device) ||
		    rte_eth_dev_get_port_by_name(device, &id) == 0)
			continue;
		if (wanted++ < room)
			continue;
		problem_set(problem, -1,
		            "port %s: it is device number %u, but this DPDK has room for %u "
		            "(RTE_MAX_ETHPORTS, fixed when DPDK was built); captures (file:PATH) "
		            "do not count, and a DPDK built with -Dmax_ethports=%u has more room",
		            scenario->ports[i].name, wanted, room, SCENARIO_PORTS_MAX);
		return -ENOSPC;
	}
	return 0;
}

/* Reports, for the port of `later`, that `earlier` is the same device. */
static int refuse_same(const char *later, const char *earlier, const char *earlier_port,
                       const char *what, struct problem *problem)
{
	return problem_set(problem, -1,
	                   "%s is %s, which port %s (%s) already uses: each port needs its own",
	                   later, what, earlier_port, earlier);
}

int port_check_distinct(const struct scenario *scenario, struct problem *problem)
{
	struct port_identity *identities = calloc(scenario->n_ports + 1, sizeof(*identities));
	int rc = 0;

	if (!identities) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; rc == 0 && i < scenario->n_ports; i++) {
		const struct port_conf *conf = &scenario->ports[i];
		char what[PATH_MAX];
		struct problem why;

		identity_of(conf->device, &identities[i]);
		for (uint32_t j = 0; rc == 0 && j < i; j++) {
			if (!identity_shared(&identities[i], &identities[j], what, sizeof(what)))
				continue;
			rc = refuse_same(conf->device, scenario->ports[j].device,
			                 scenario->ports[j].name, what, &why);
			problem_set(problem, -1, "port %s: %s", conf->name, why.text);
			problem->port = i + 1;
		}
	}
	free(identities);
	return rc;
}

/* Returns the index of the kernel interface under a port: 0 if there is none, or the driver does
 * not report it. */
static unsigned interface_of(const struct port *port)
{
	struct rte_eth_dev_info info;

	if (port->packets)
		return (unsigned)port->interface.index;
	return !port->file && !port->tap && rte_eth_dev_info_get(port->id, &info) == 0
	               ? info.if_index
	               : 0;
}

int port_check_opened(const struct port *ports, uint32_t n, struct problem *problem)
{
	const struct port *last = &ports[n - 1];
	unsigned index = interface_of(last);
	char name[IFNAMSIZ], what[64] = "the same device";

	for (uint32_t i = 0; !last->file && !last->tap && i + 1 < n; i++) {
		bool same = index > 0 && interface_of(&ports[i]) == index;

		if (ports[i].file || ports[i].tap ||
		    (!same && (last->packets || ports[i].id != last->id)))
			continue;
		if (same && if_indextoname(index, name))
			snprintf(what, sizeof(what), "interface %s", name);
		return refuse_same(last->device, ports[i].device, ports[i].name, what, problem);
	}
	return 0;
}
