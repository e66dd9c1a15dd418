/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/succession.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_setting(const struct conf *a, const struct conf *b)
{
	return a == b || (a && b && conf_equal(a, b));
}

static bool port_is(const struct port_conf *next, const struct port_conf *now)
{
	if (!next->device && !next->setting)
		return true;
	return same_text(next->device, now->device) && same_setting(next->setting, now->setting);
}

static int refusals_list(const struct scenario *next, const struct scenario *now,
                         struct succession_refusal *refusals)
{
	int n = 0;

	if (next->seed_given && next->seed != now->seed)
		refusals[n++] = (struct succession_refusal){SUCCESSION_SEED, NULL};
	for (uint32_t i = 0; i < next->n_ports; i++) {
		const struct port_conf *port = &next->ports[i];
		int at = scenario_find_port(now, port->name);

		if (at < 0)
			refusals[n++] = (struct succession_refusal){SUCCESSION_PORT_NEW, port};
		else if (!port_is(port, &now->ports[at]))
			refusals[n++] = (struct succession_refusal){SUCCESSION_PORT_DIFFERS, port};
	}
	for (uint32_t i = 0; i < now->n_ports; i++) {
		if (scenario_find_port(next, now->ports[i].name) < 0)
			refusals[n++] =
			        (struct succession_refusal){SUCCESSION_PORT_GONE, &now->ports[i]};
	}
	return n;
}

static void ports_free(struct port_conf *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(ports[i].device);
		free(ports[i].folder);
		conf_free(ports[i].setting);
	}
}

/* Replaces the ports from the file, which agree, by copies of those that run. */
static int ports_take(struct scenario *next, const struct scenario *now)
{
	struct port_conf ports[SCENARIO_PORTS_MAX];

	for (uint32_t i = 0; i < now->n_ports; i++) {
		const struct port_conf *port = &now->ports[i];

		ports[i] = (struct port_conf){.device = port->device ? strdup(port->device) : NULL,
		                              .setting = port->setting ? conf_copy(port->setting)
		                                                       : NULL};
		strcpy(ports[i].name, port->name);
		if ((port->device && !ports[i].device) || (port->setting && !ports[i].setting)) {
			ports_free(ports, i + 1);
			return -ENOMEM;
		}
	}
	ports_free(next->ports, next->n_ports);
	memcpy(next->ports, ports, now->n_ports * sizeof(*ports));
	next->n_ports = now->n_ports;
	return 0;
}

int succession_make(struct scenario *next, const struct scenario *now,
                    struct succession_refusal refusals[SUCCESSION_REFUSALS_MAX])
{
	int result = refusals_list(next, now, refusals);

	if (result == 0)
		result = ports_take(next, now);
	if (result != 0)
		return result;
	next->seed = now->seed;
	next->seed_given = now->seed_given;
	return 0;
}
