/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a network, its report and its fates (weir.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "account/reason.h"
#include "engine/engine_report.h"
#include "language/scenario_file.h"
#include "library/network.h"
#include "packet/packet.h"
#include "replay/replay_report.h"
#include "text/alloc_failure.h"
#include "text/file_read.h"

/* ---- changes ---- */

int weir_change(struct weir *net, int64_t t_ns, const char *lines, struct weir_error *error)
{
	int result = network_check_instant(net, t_ns);
	struct scenario_fault fault;
	struct file_beside beside;
	struct scenario *next;

	if (result < 0)
		return network_fail(error, result, 0, 0, "%s", weir_words(result));
	file_beside_begin(&beside, net->options.base);
	result = scenario_text_edit(lines, strlen(lines), network_scenario(net), &next, &fault);
	file_beside_end(&beside);
	if (result < 0)
		return network_fail(error, result, fault.line, fault.column, "%s", fault.text);
	net->reached_ns = (simtime)t_ns;
	if (network_catch_up(net) < 0) {
		scenario_free(next);
		return network_fail(error, -ENOMEM, 0, 0, "no memory for what leaves");
	}
	engine_settle(net->offline.engine, net->reached_ns);
	result = network_revise(net, next, net->reached_ns, error);
	if (net->on_fate != NULL)
		network_follow(net);
	return result;
}

/* ---- the report ---- */

/* The library's own jansson tells when it has no memory, and needs no random numbers: whoever can
 * choose the keys of a report can as well choose the scenario. */
__attribute__((constructor)) static void prepare_json(void)
{
	json_object_seed(1);
	alloc_failure_watch_json();
}

static int write_report(struct weir *net, FILE *out)
{
	const struct scenario *scenario = network_scenario(net);
	struct replay_result *result = calloc(1, sizeof(*result));
	int error = -ENOMEM;

	if (result == NULL)
		return error;
	result->clouds = calloc(scenario->n_clouds + 1, sizeof(*result->clouds));
	if (result->clouds != NULL) {
		result->n_clouds = scenario->n_clouds;
		for (uint32_t port = 0; port < net->n_ports; port++)
			result->ports[port] = net->ports[port].report;
		if (net->first_ns != SIMTIME_NEVER) {
			result->first_ns = net->first_ns;
			result->last_ns = net->last_ns;
		}
		offline_engine_report(&net->offline, scenario, result);
		error = report_json_write(out, scenario, result);
	}
	replay_result_free(result);
	free(result);
	return error;
}

char *weir_report(struct weir *net)
{
	struct printed text;
	int error;

	if (network_catch_up(net) < 0)
		return NULL;
	alloc_failure_taken();
	error = write_report(net, printed_begin(&text));
	printed_end(&text);
	if (!alloc_failure_taken() && error == 0)
		return text.bytes;
	free(text.bytes);
	return NULL;
}

/* ---- fates ---- */

static void tell(struct witness *witness, const struct fate *fate)
{
	struct weir *net = (struct weir *)((char *)witness - offsetof(struct weir, witness));
	struct weir_fate told = {
	        .t_ns = (int64_t)fate->at_ns,
	        .packet = fate->packet,
	        .port = fate->port,
	        .to_port = fate->to_port,
	        .kind = fate->kind,
	        .flags = (fate->flags & PACKET_COPY ? WEIR_FATE_COPY : 0) |
	                 (fate->flags & PACKET_GENERATED ? WEIR_FATE_GENERATED : 0) |
	                 (fate->flags & PACKET_MARKED ? WEIR_FATE_MARKED : 0),
	        .cloud = fate->cloud,
	        .statement = fate->stage,
	        .arrived_ns = (int64_t)fate->t_in_ns,
	        .leaves_ns = (int64_t)fate->t_out_ns,
	        .queue_bytes = fate->queue_bytes,
	        .wire_bytes = fate->wire_bytes,
	        .bytes = fate->frame.bytes,
	        .data = fate->frame.bytes > 0 ? fate->frame.data : NULL,
	};

	if (net->on_fate == NULL || !(net->fate_kinds >> fate->kind & 1))
		return;
	if (fate->kind == FATE_DROPPED || fate->kind == FATE_MARKED) {
		told.reason = reason_name(fate->reason);
		told.reason_kind = reason_kind_name(reason_kind(fate->reason));
	}
	net->on_fate(net->fate_argument, &told);
}

static struct witness *choose(void *argument, const struct engine_followed *cloud)
{
	struct weir *net = argument;

	(void)cloud;
	return net->on_fate != NULL ? &net->witness : NULL;
}

void network_follow(struct weir *net)
{
	const struct engine_follower follower = {.choose = choose, .argument = net};

	engine_follow(net->offline.engine, &follower);
	/* For all clouds before the next frame. */
	while (engine_follows_more(net->offline.engine) &&
	       network_advance(net, net->advanced_ns) == 0)
		;
}

int weir_on_fate(struct weir *net, void (*callback)(void *argument, const struct weir_fate *fate),
                 void *argument, uint32_t kinds)
{
	/* What has happened by now is not told. */
	net->on_fate = NULL;
	network_catch_up(net);
	net->witness.tell = tell;
	net->witness.way = callback != NULL ? kinds & ~WEIR_FATES_DECIDED : 0;
	net->on_fate = callback;
	net->fate_argument = argument;
	net->fate_kinds = kinds;
	network_follow(net);
	return net->error;
}
