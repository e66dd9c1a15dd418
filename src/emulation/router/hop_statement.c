/* SPDX-License-Identifier: BSD-3-Clause */
/* The language of `hop`: its fields, and the check of their values. */
#include <errno.h>
#include <string.h>

#include "router/hop.h"
#include "scenario/scenario.h"

static bool is_router_v4(uint32_t address)
{
	const uint8_t *byte = (const uint8_t *)&address;

	return byte[0] != 0 && byte[0] != 127 && byte[0] < 224 && !hop_is_link_local_v4(byte);
}

static bool is_router_v6(const uint8_t *address)
{
	static const uint8_t zero[15];

	return address[0] != 0xff && !hop_is_link_local_v6(address) &&
	       (memcmp(address, zero, sizeof(zero)) != 0 || address[15] > 1);
}

enum { FIELD_OF_V4, FIELD_OF_V6, FIELD_OF_MTU, FIELD_OF_LIMIT, FIELD_OF_BURST, FIELD_OF_THROUGH };

static int hop_check(const struct conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	const struct hop_conf *hop = (const struct hop_conf *)conf;

	(void)cloud;
	if (!is_router_v4(hop->v4)) {
		problem_set(problem, FIELD_OF_V4,
		            "no router has this address: it is multicast, link-local, loopback or "
		            "reserved; an address for documentation is 192.0.2.1");
		return -EINVAL;
	}
	if (conf->given >> FIELD_OF_V6 & 1 && !is_router_v6(hop->v6)) {
		problem_set(problem, FIELD_OF_V6,
		            "no router has this address: it is multicast, link-local, loopback or "
		            "unspecified; an address for documentation is 2001:db8::1");
		return -EINVAL;
	}
	return 0;
}

int hop_through(const struct scenario *scenario, const struct cloud_conf *cloud, uint32_t *index,
                struct problem *problem)
{
	const struct hop_conf *hop = (const struct hop_conf *)cloud_conf_get(cloud, "hop");
	const struct cloud_conf *back;
	int i, port;

	*index = HOP_NOT_THROUGH;
	if (!hop || !hop->through)
		return 0;
	i = scenario_find_cloud(scenario, hop->through);
	if (i < 0) {
		problem_set(problem, FIELD_OF_THROUGH,
		            "cloud `%s`: its answers go through cloud `%s`, which does not exist",
		            cloud->name, hop->through);
		return -EINVAL;
	}
	back = scenario->clouds[i];
	port = scenario_root(scenario, cloud);
	if (back->many || port < 0 || strcmp(back->to, scenario->ports[port].name) != 0) {
		problem_set(problem, FIELD_OF_THROUGH,
		            "cloud `%s`: its answers cannot go through `%s`, which %s; use a cloud "
		            "that leads to port %s, where its packets come in",
		            cloud->name, back->name,
		            back->many ? "is a template" : "leads elsewhere",
		            port < 0 ? "?" : scenario->ports[port].name);
		return -EINVAL;
	}
	*index = (uint32_t)i;
	return 0;
}

static const struct field hop_fields[] = {
        [FIELD_OF_V4] = {.name = "address",
                         .type = FIELD_IPV4,
                         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
                         .offset = offsetof(struct hop_conf, v4),
                         .help = "the router's address"},
        [FIELD_OF_V6] = {.name = "address6",
                         .type = FIELD_IPV6,
                         .flags = FIELD_POSITIONAL,
                         .offset = offsetof(struct hop_conf, v6),
                         .help = "its IPv6 address; without one it sends no answers for IPv6"},
        [FIELD_OF_MTU] = {.name = "mtu",
                          .type = FIELD_COUNT,
                          .offset = offsetof(struct hop_conf, mtu),
                          .min = HOP_MTU_MIN,
                          .max = UINT16_MAX,
                          .help = "bytes of the longest IP packet that goes on whole"},
        [FIELD_OF_LIMIT] = {.name = "limit",
                            .type = FIELD_COUNT,
                            .offset = offsetof(struct hop_conf, limit),
                            .max = HOP_LIMIT_MAX,
                            .initial = HOP_LIMIT_DEFAULT,
                            .help = "ICMP errors a second; 0: the router sends none"},
        [FIELD_OF_BURST] = {.name = "burst",
                            .type = FIELD_COUNT,
                            .offset = offsetof(struct hop_conf, burst),
                            .min = 1,
                            .max = HOP_BURST_MAX,
                            .initial = HOP_BURST_DEFAULT,
                            .help = "ICMP errors at once"},
        [FIELD_OF_THROUGH] = {.name = "through",
                              .type = FIELD_TEXT,
                              .offset = offsetof(struct hop_conf, through),
                              .help = "the cloud that answers cross on their way back"},
        FIELD_END,
};

const struct statement hop_statement = {
        .name = "hop",
        .help = "the cloud is a router: TTL, time exceeded, MTU; traceroute sees it",
        .example = "192.0.2.1",
        .role = ROLE_STAGE,
        .beyond = "its answers quote packets, and fragments carry all of them",
        .generates = true,
        .fields = hop_fields,
        .conf_bytes = sizeof(struct hop_conf),
        .check = hop_check,
        .make = hop_make,
        .free = hop_free,
        .adopt = hop_adopt,
        .snapshot = hop_snapshot,
        .unanswered = hop_unanswered,
};
