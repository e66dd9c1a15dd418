/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection as JSON. docs/explain.md has the schema. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "explain/explanation.h"

static json_t *end_json(const struct flow_end *end)
{
	char address[INET6_ADDRSTRLEN];

	flow_end_text(end, address, sizeof(address));
	return json_pack("{s:s,s:i}", "address", address, "port", (int)end->port);
}

json_t *parts_json(const uint64_t parts_ns[PART_COUNT])
{
	json_t *parts = json_object();
	char key[32];

	for (int part = 0; part < PART_COUNT; part++) {
		snprintf(key, sizeof(key), "%s_ns", part_key((enum part)part));
		json_object_set_new(parts, key, json_integer((json_int_t)parts_ns[part]));
	}
	return parts;
}

static json_t *phase_json(const struct verdict *verdict, const struct verdict_phase *phase)
{
	return json_pack("{s:s,s:s,s:I,s:I,s:i,s:i,s:i,s:o}", "phase", phase_key(phase->kind),
	                 "detail", phase->detail, "begin_ns",
	                 (json_int_t)(phase->begin_ns - verdict->begin_ns), "total_ns",
	                 (json_int_t)(phase->end_ns - phase->begin_ns), "round_trips",
	                 (int)phase->round_trips, "windows", (int)phase->windows, "turns",
	                 (int)phase->turns, "parts", parts_json(phase->parts_ns));
}

static json_t *loss_json(const struct verdict *verdict, const struct verdict_loss *loss,
                         const struct explanation_of *of)
{
	static const char *const resent[] = {"not", "fast", "timeout"};
	const char *port = loss->port < of->n_ports ? of->ports[loss->port] : "";

	return json_pack(
	        "{s:s,s:I,s:s,s:s,s:b,s:I,s:s,s:I,s:I}", "port", port, "packet",
	        (json_int_t)loss->packet, "way", loss->way == FLOW_UP ? "up" : "down", "reason",
	        reason_name((enum reason)loss->reason), "acknowledgement",
	        (int)loss->acknowledgement, "at_ns", (json_int_t)(loss->at_ns - verdict->begin_ns),
	        "resent", resent[loss->resent], "again_ns",
	        (json_int_t)(loss->resent == RESENT_NOT ? 0 : loss->again_ns - verdict->begin_ns),
	        "cost_ns", (json_int_t)loss->cost_ns);
}

static json_t *ways_json(const uint64_t ways[FLOW_WAYS])
{
	return json_pack("{s:I,s:I}", "up", (json_int_t)ways[FLOW_UP], "down",
	                 (json_int_t)ways[FLOW_DOWN]);
}

json_t *verdict_json(const struct verdict *verdict, const struct explanation_of *of)
{
	json_t *phases = json_array(), *losses = json_array();

	for (uint32_t i = 0; i < verdict->n_phases; i++)
		json_array_append_new(phases, phase_json(verdict, &verdict->phases[i]));
	for (uint32_t i = 0; i < verdict->n_losses; i++)
		json_array_append_new(losses, loss_json(verdict, &verdict->losses[i], of));
	return json_pack(
	        "{s:s,s:o,s:o,s:s,s:s,s:b,s:b,s:b,s:I,s:I,s:i,s:o,s:o,s:o,s:I,s:I,s:o,s:o}", "name",
	        verdict->name, "client", end_json(&verdict->ends[FLOW_UP]), "server",
	        end_json(&verdict->ends[FLOW_DOWN]), "transport",
	        verdict->protocol == IPPROTO_TCP ? "tcp" : "udp", "protocol", verdict->speech,
	        "whole", (int)verdict->whole, "open", (int)verdict->open, "refused",
	        (int)verdict->refused, "begin_ns", (json_int_t)verdict->begin_ns, "total_ns",
	        (json_int_t)(verdict->end_ns - verdict->begin_ns), "round_trips",
	        (int)verdict_round_trips(verdict), "packets", ways_json(verdict->packets), "bytes",
	        ways_json(verdict->bytes), "lost", ways_json(verdict->lost), "needless",
	        (json_int_t)verdict->needless, "holes", (json_int_t)verdict->holes, "phases",
	        phases, "losses", losses);
}
