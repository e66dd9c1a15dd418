/* SPDX-License-Identifier: BSD-3-Clause */
#include "library/network.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change/change.h"
#include "language/scenario_file.h"
#include "text/file_read.h"

#define MBUFS_FIRST     32u
#define DEPARTURES_ROOM 256u

int network_fail(struct weir_error *error, int code, uint32_t line, uint32_t column,
                 const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return code;
	*error = (struct weir_error){.code = code, .line = line, .column = column};
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}

/* ---- what has left ---- */

static bool departures_grow(struct departures *departures)
{
	const uint32_t room = departures->room ? 2 * departures->room : DEPARTURES_ROOM;
	struct departure *list = malloc(room * sizeof(*list));

	if (list == NULL)
		return false;
	for (uint32_t i = 0; i < departures->n; i++)
		list[i] = *departures_at(departures, i);
	free(departures->list);
	departures->list = list;
	departures->room = room;
	departures->first = 0;
	return true;
}

int departures_add(struct departures *departures, const struct departure *departure)
{
	if (unlikely(departures->n == departures->room) && !departures_grow(departures))
		return -ENOMEM;
	*departures_at(departures, departures->n++) = *departure;
	return 0;
}

/* Moves what is in an outlet behind what has left before at this port. */
static int leave(void *argument, uint32_t port, struct outlet *outlet)
{
	struct weir *net = argument;
	struct departures *departures = &net->ports[port].departures;

	for (uint32_t i = 0; i < outlet->n; i++) {
		const struct departure departure = {outlet->mbufs[i], outlet->due_ns[i],
		                                    outlet->wire_bytes[i]};

		if (unlikely(departures_add(departures, &departure) < 0)) {
			outlet_pass(outlet, i);
			return -ENOMEM;
		}
	}
	outlet_clear(outlet);
	return 0;
}

static void departures_free(struct departures *departures)
{
	for (uint32_t i = 0; i < departures->n; i++)
		rte_pktmbuf_free(departures_at(departures, i)->mbuf);
	free(departures->list);
}

/* ---- making ---- */

void revisions_free(struct revision *revisions, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		scenario_free(revisions[i].scenario);
	free(revisions);
}

int network_options(struct weir_options *options, const struct weir_options *given,
                    struct weir_error *error)
{
	const size_t known = sizeof(options->size) + sizeof(options->seed);
	const char *base = "";
	size_t bytes;
	char *folder;

	memset(options, 0, sizeof(*options));
	if (given != NULL) {
		if (given->size < known || given->size > 4096)
			return network_fail(
			        error, -EINVAL, 0, 0,
			        "the options have the size %zu; it is sizeof(struct weir_options)",
			        given->size);
		memcpy(options, given, RTE_MIN(given->size, sizeof(*options)));
	}
	options->size = sizeof(*options);
	if (options->base != NULL)
		base = options->base;
	options->base = NULL;
	if (options->begin_ns < 0 || options->begin_ns == WEIR_NEVER)
		return network_fail(error, -EINVAL, 0, 0,
		                    "begin_ns is %" PRId64 "; it is 0 to 2^63 - 2",
		                    options->begin_ns);
	bytes = strlen(base);
	folder = malloc(bytes + 2);
	if (folder == NULL)
		return network_fail(error, -ENOMEM, 0, 0, "no memory for a network");
	memcpy(folder, base, bytes + 1);
	if (bytes > 0 && base[bytes - 1] != '/')
		memcpy(folder + bytes, "/", 2);
	options->base = folder;
	return 0;
}

void network_options_free(struct weir_options *options)
{
	free((char *)(uintptr_t)options->base);
	options->base = NULL;
}

static int open_engine(struct weir *net, struct weir_error *error)
{
	const struct scenario *scenario = network_scenario(net);
	const uint64_t memory_bytes =
	        net->options.memory_bytes ? net->options.memory_bytes : REPLAY_MEMORY;
	const struct mbuf_supply_plan supply_plan = {
	        .memory_bytes = memory_bytes,
	        .outlets = scenario->n_ports,
	        .mbufs = MBUFS_FIRST,
	};
	struct offline_engine_plan plan = {
	        .memory_bytes = memory_bytes,
	        .lacked_ns = &net->lacked_ns,
	        .leave = leave,
	        .argument = net,
	};
	struct problem problem;

	net->n_ports = scenario->n_ports;
	net->ports = calloc(net->n_ports + 1, sizeof(*net->ports));
	if (net->ports == NULL || mbuf_supply_open(&net->supply, &supply_plan, &problem) < 0)
		goto err_memory;
	plan.pool = net->supply.pool;
	if (offline_engine_open(&net->offline, scenario, &plan, &problem) == 0)
		return 0;
err_memory:
	return network_fail(error, -ENOMEM, 0, 0,
	                    "no memory: %" PRIu64 " MiB cannot be set aside for frames in flight; "
	                    "allow less with memory_bytes",
	                    memory_bytes >> 20);
}

static int put_in_force(struct weir *net, const struct revision *revision, struct weir_error *error)
{
	struct problem problem;
	int result;

	if (offline_engine_advance(&net->offline, revision->t_ns) < 0)
		return network_fail(error, -ENOMEM, 0, 0, "no memory for what leaves");
	result = change_at_once(net->offline.engine, revision->scenario, NULL, revision->t_ns,
	                        &problem);
	return result < 0 ? network_fail(error, result, 0, 0, "%s", problem.text) : 0;
}

struct weir *network_make(const struct weir_options *options, struct revision *revisions,
                          uint32_t n, simtime now, struct weir_error *error)
{
	struct weir *net = calloc(1, sizeof(*net));
	int result;

	if (net == NULL) {
		revisions_free(revisions, n);
		network_fail(error, -ENOMEM, 0, 0, "no memory for a network");
		return NULL;
	}
	net->revisions = revisions;
	net->n_revisions = net->revisions_room = n;
	net->lacked_ns = net->first_ns = SIMTIME_NEVER;
	net->reached_ns = net->advanced_ns = now;
	result = network_options(&net->options, options, error);
	if (result == 0)
		result = open_engine(net, error);
	for (uint32_t i = 0; result == 0 && i < n; i++)
		result = put_in_force(net, &revisions[i], error);
	if (result == 0 && offline_engine_advance(&net->offline, now) < 0)
		result = network_fail(error, -ENOMEM, 0, 0, "no memory for what leaves");
	if (result == 0)
		return net;
	weir_close(net);
	return NULL;
}

int network_revise(struct weir *net, struct scenario *scenario, simtime now,
                   struct weir_error *error)
{
	const struct revision revision = {now, scenario};
	int result;

	if (net->n_revisions == net->revisions_room) {
		const uint32_t room = 2 * net->revisions_room;
		struct revision *revisions = realloc(net->revisions, room * sizeof(*revisions));

		if (revisions == NULL) {
			scenario_free(scenario);
			return network_fail(error, -ENOMEM, 0, 0, "no memory for a change");
		}
		net->revisions = revisions;
		net->revisions_room = room;
	}
	result = put_in_force(net, &revision, error);
	if (result < 0)
		scenario_free(scenario);
	else
		net->revisions[net->n_revisions++] = revision;
	return result;
}

/* Returns a list of one revision; NULL if there is no memory. */
static struct revision *first_revision(struct scenario *scenario, simtime begin_ns)
{
	struct revision *revision = malloc(sizeof(*revision));

	if (revision != NULL)
		*revision = (struct revision){begin_ns, scenario};
	return revision;
}

static void choose_seed(struct scenario *scenario, const struct weir_options *options)
{
	if (options->has_seed)
		scenario->seed = options->seed;
	else if (!scenario->seed_given)
		scenario->seed = 1;
	scenario->seed_given = true;
}

struct weir *weir_open(const char *text, const struct weir_options *given, struct weir_error *error)
{
	struct weir_options options;
	struct scenario_fault fault;
	struct file_beside beside;
	struct scenario *scenario;
	struct revision *revision;
	struct weir *net = NULL;
	int result;

	if (network_options(&options, given, error) < 0)
		return NULL;
	file_beside_begin(&beside, options.base);
	result = scenario_text_edit(text, strlen(text), NULL, &scenario, &fault);
	file_beside_end(&beside);
	if (result < 0) {
		network_fail(error, result, fault.line, fault.column, "%s", fault.text);
		goto out;
	}
	choose_seed(scenario, &options);
	revision = first_revision(scenario, (simtime)options.begin_ns);
	if (revision != NULL) {
		net = network_make(&options, revision, 1, (simtime)options.begin_ns, error);
	} else {
		scenario_free(scenario);
		network_fail(error, -ENOMEM, 0, 0, "no memory for a network");
	}
out:
	network_options_free(&options);
	return net;
}

void weir_close(struct weir *net)
{
	if (net == NULL)
		return;
	/* What is still held has no fate: the network ends before. */
	net->on_fate = NULL;
	network_reclaim(net);
	for (uint32_t port = 0; net->ports != NULL && port < net->n_ports; port++)
		departures_free(&net->ports[port].departures);
	offline_engine_close(&net->offline);
	mbuf_supply_close(&net->supply);
	revisions_free(net->revisions, net->n_revisions);
	free(net->ports);
	free(net->whole);
	free(net->datagram);
	network_options_free(&net->options);
	free(net);
}

/* ---- ports ---- */

int weir_port(const struct weir *net, const char *name)
{
	const int port = scenario_find_port(network_scenario(net), name);

	return port >= 0 ? port : -ENOENT;
}

uint32_t weir_ports(const struct weir *net)
{
	return net->n_ports;
}

const char *weir_port_name(const struct weir *net, uint32_t port)
{
	return port < net->n_ports ? net->revisions[0].scenario->ports[port].name : NULL;
}

/* ---- the library ---- */

void weir_free(void *memory)
{
	free(memory);
}

const char *weir_words(int code)
{
	const char *words = code < 0 && code > -4096 ? strerrordesc_np(-code) : NULL;

	switch (code) {
	case -ETIME:
		return "the network has been beyond this instant";
	case -ERANGE:
		return "instants are from 0 to 2^63 - 2 ns";
	case -ENOENT:
		return "there is no such port";
	case -EMSGSIZE:
		return "the network does not carry this size";
	case -EAFNOSUPPORT:
		return "the addresses are not of one family, IPv4 or IPv6";
	case -EINVAL:
		return "ecn is at most 3, and dscp at most 63";
	case -ENOMEM:
		return "there is no memory for the frames of the network";
	default:
		return words ? words : "unknown error";
	}
}

const char *weir_version(void)
{
	return WEIR_VERSION;
}
