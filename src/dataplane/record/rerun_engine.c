/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/filter.h"
#include "change/change.h"
#include "engine/engine_report.h"
#include "machine/pool.h"
#include "packet/digest.h"
#include "record/rerun_compare.h"
#include "record/rerun_flight.h"
#include "record/tape.h"
#include "statements.h"

struct instant instant_of(simtime t_ns)
{
	struct instant instant;

	snprintf(instant.text, sizeof(instant.text), "+%" PRIu64 ".%09" PRIu64 " s",
	         t_ns / SIMTIME_S, t_ns % SIMTIME_S);
	return instant;
}

void rerun_engine_differ(struct rerun_engine *rerun_engine, const char *format, ...)
{
	struct rerun_result *result = rerun_engine->result;
	va_list arguments;

	if (result->differs)
		return;
	result->differs = true;
	va_start(arguments, format);
	vsnprintf(result->difference, sizeof(result->difference), format, arguments);
	va_end(arguments);
}

/* ---- what leaves ---- */

static void drain(struct rerun_engine *rerun_engine, uint32_t port)
{
	struct outlet *outlet = engine_outlet(rerun_engine->engine, port);

	for (uint32_t i = 0; i < outlet->n; i++) {
		const uint32_t digest =
		        digest_departure(outlet->mbufs[i], outlet->due_ns[i], outlet->wire_bytes[i],
		                         rerun_engine->digested);
		int rc = 0;

		rerun_engine->result->departures++;
		rerun_flight_left(rerun_engine, port, outlet->due_ns[i]);
		if (!rerun_engine->options->otherwise && !rerun_engine->options->flight)
			rc = rerun_gone_add(&rerun_engine->gone[port], outlet->due_ns[i], digest);
		if (rc == 0)
			rc = rerun_engine->leave(rerun_engine->leave_argument, port,
			                         outlet->mbufs[i], outlet->due_ns[i],
			                         outlet->wire_bytes[i]);
		else
			rte_pktmbuf_free(outlet->mbufs[i]);
		if (rc < 0)
			rerun_engine->error = rc;
	}
	outlet->n = 0;
}

static void make_room(void *argument, uint32_t port)
{
	drain(argument, port);
}

int rerun_engine_advance(struct rerun_engine *rerun_engine, simtime now, struct problem *problem)
{
	bool full;

	if (unlikely(now >= rerun_engine->lacked_ns)) {
		now = rerun_engine->lacked_ns > 0 ? rerun_engine->lacked_ns - 1 : 0;
		rerun_engine->has_ahead = false;
	}
	do {
		full = false;
		engine_advance(rerun_engine->engine, now);
		for (uint32_t port = 0; port < rerun_engine->n_ports; port++) {
			full |= engine_outlet(rerun_engine->engine, port)->n == OUTLET_ROOM;
			drain(rerun_engine, port);
		}
	} while (full);
	if (rerun_engine->error < 0)
		problem_set(problem, -1, "no memory for what leaves");
	return rerun_engine->error;
}

/* ---- changes ---- */

static void report(const struct rerun_engine *rerun_engine, uint32_t cloud)
{
	engine_report(rerun_engine->engine, rerun_engine->first->clouds[cloud]->name,
	              &rerun_engine->result->replay.clouds[cloud]);
}

/* Stores the reports of clouds that the change removes, because the engine forgets them. */
static void report_removed(struct rerun_engine *rerun_engine, const struct change *change)
{
	const struct scenario *first = rerun_engine->first;

	for (uint32_t i = 0; i < first->n_clouds; i++) {
		if (!rerun_engine->lasts[i] || change_keeps(change, first->clouds[i]->name))
			continue;
		report(rerun_engine, i);
		rerun_engine->lasts[i] = false;
	}
}

void rerun_engine_report(const struct rerun_engine *rerun_engine)
{
	for (uint32_t i = 0; i < rerun_engine->first->n_clouds; i++) {
		if (rerun_engine->lasts[i])
			report(rerun_engine, i);
	}
}

int rerun_engine_change(struct rerun_engine *rerun_engine, const struct scenario *next, simtime now,
                        struct problem *problem)
{
	struct change *change;
	int rc = change_prepare(rerun_engine->engine, next, rerun_engine->owned, &change, problem);

	if (rc < 0)
		return rc;
	report_removed(rerun_engine, change);
	engine_apply(rerun_engine->engine, change, now);
	change_free(change);
	return 0;
}

/* ---- the entries ---- */

static void read_ahead(struct rerun_engine *rerun_engine)
{
	rerun_engine->has_ahead = recorded_next(rerun_engine->reader, &rerun_engine->ahead);
}

/* Ends the repetition of this worker: from here on, the recorded engine differs from this one. */
static void lose_track(struct rerun_engine *rerun_engine, simtime known_ns, const char *why)
{
	struct rerun_worker *worker = &rerun_engine->result->workers[rerun_engine->worker];

	worker->known_ns = known_ns;
	snprintf(worker->unknown, sizeof(worker->unknown), "%.150s", why);
	rerun_engine->has_ahead = false;
}

static int take_packets(struct rerun_engine *rerun_engine, bool alone, struct problem *problem)
{
	const struct recorded first = rerun_engine->ahead;
	struct rerun_result *result = rerun_engine->result;
	struct replay_port_report *report = &result->replay.ports[first.entry.port];
	const struct recorded *ahead = &rerun_engine->ahead;
	uint32_t age_ns[BURST_MAX];
	struct burst burst;
	bool aged = false;

	burst_open(&burst, first.entry.port, first.entry.number);
	do {
		struct rte_mbuf *mbuf =
		        mbuf_supply_frame(rerun_engine->supply, ahead->data, ahead->bytes, problem);

		if (!mbuf) {
			rte_pktmbuf_free_bulk(burst.mbuf, burst.n);
			return -ENOMEM;
		}
		age_ns[burst.n] = ahead->age_ns;
		aged |= ahead->age_ns > 0;
		burst_put(&burst, mbuf, ahead->entry.t_ns, ahead->wire_bytes);
		read_ahead(rerun_engine);
	} while (!alone && burst.n < BURST_MAX && rerun_engine->has_ahead &&
	         ahead->entry.kind == TAPE_PACKETS && ahead->entry.port == first.entry.port &&
	         ahead->entry.t_ns == first.entry.t_ns &&
	         ahead->entry.number == first.entry.number + burst.n);
	if (aged)
		burst_set_ages(&burst, age_ns);
	if (report->rx_packets == 0)
		report->first = first.entry.number;
	report->last = first.entry.number + burst.n - 1;
	report->rx_packets += burst.n;
	report->rx_bytes += burst.bytes;
	result->workers[rerun_engine->worker].packets += burst.n;
	result->packets += burst.n;
	engine_ingress(rerun_engine->engine, &burst);
	return 0;
}

static int take_change(struct rerun_engine *rerun_engine, const struct tape_entry *entry,
                       struct problem *problem)
{
	const struct rerun_options *options = rerun_engine->options;
	const struct scenario *next =
	        options->change(options->argument, rerun_engine->worker, entry->number, problem);
	int rc;

	if (!next) {
		lose_track(rerun_engine, entry->t_ns, problem->text);
		return 0;
	}
	rc = rerun_engine_change(rerun_engine, next, entry->t_ns, problem);
	if (rc == 0)
		rerun_engine->result->workers[rerun_engine->worker].changes++;
	return rc;
}

static void take_insertion(struct rerun_engine *rerun_engine, const struct recorded *recorded)
{
	char cloud[TAPE_CLOUD_BYTES];
	const struct insertion insertion = {.cloud = cloud,
	                                    .n = recorded->entry.n,
	                                    .frame_bytes = (uint32_t)recorded->entry.number,
	                                    .frames = recorded->data + TAPE_CLOUD_BYTES};

	memcpy(cloud, recorded->data, sizeof(cloud));
	cloud[sizeof(cloud) - 1] = '\0';
	engine_insert(rerun_engine->engine, &insertion, recorded->entry.t_ns);
}

static void meet_gap(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
{
	char why[160];

	snprintf(why, sizeof(why),
	         "%u packets%s are not recorded, from %s to %s: the writer was too slow", entry->n,
	         entry->flags & TAPE_BLIND ? " and a change" : "", instant_of(entry->number).text,
	         instant_of(entry->t_ns).text);
	lose_track(rerun_engine, entry->number, why);
}

/* Loses track if the repetition itself found no memory: what follows differs from the recording. */
static bool has_starved(struct rerun_engine *rerun_engine)
{
	if (likely(rerun_engine->starved_ns == SIMTIME_NEVER) || rerun_engine->options->otherwise)
		return false;
	lose_track(rerun_engine, rerun_engine->starved_ns,
	           "the repetition has no memory for some packets; allow more with --memory");
	return true;
}

void rerun_engine_finish(struct rerun_engine *rerun_engine, simtime now)
{
	const struct rerun_worker *worker = &rerun_engine->result->workers[rerun_engine->worker];

	if (rerun_engine->lacked_ns > now + 1 || worker->unknown[0])
		return;
	lose_track(rerun_engine, rerun_engine->lacked_ns,
	           "from then on weir had no memory for some packets; what follows cannot be "
	           "repeated: give it more, with `weir run --memory` (--ideal continues)");
}

int rerun_engine_step(struct rerun_engine *rerun_engine, bool alone, struct problem *problem)
{
	struct rerun_worker *worker = &rerun_engine->result->workers[rerun_engine->worker];
	const struct recorded *recorded = &rerun_engine->ahead;
	const struct tape_entry *entry = &recorded->entry;
	const bool compares = !rerun_engine->options->otherwise && entry->t_ns < worker->lacked_ns;
	int rc = 0;

	worker->took_part = true;
	worker->known_ns = entry->t_ns;
	if (unlikely(has_starved(rerun_engine)))
		return 0;
	if (rerun_engine->options->flight)
		rc = rerun_flight_check(rerun_engine, entry, problem);
	if (rc < 0)
		return rc;
	switch (entry->kind) {
	case TAPE_PACKETS:
		if (entry->port >= rerun_engine->n_ports || !rerun_engine->owned[entry->port]) {
			problem_set(problem, -1,
			            "a packet of port %u, which does not belong to worker %u",
			            entry->port, rerun_engine->worker);
			return -EINVAL;
		}
		return take_packets(rerun_engine, alone, problem);
	case TAPE_CHANGE:
		rc = take_change(rerun_engine, entry, problem);
		break;
	case TAPE_CLEAR:
		engine_clear(rerun_engine->engine);
		break;
	case TAPE_INSERTION:
		take_insertion(rerun_engine, recorded);
		break;
	case TAPE_DEPARTURES:
		if (compares && entry->port < rerun_engine->n_ports)
			rerun_compare_departures(rerun_engine, recorded);
		break;
	case TAPE_CHECK:
		if (compares)
			rerun_compare_counters(rerun_engine, entry);
		break;
	case TAPE_SNAPSHOT:
		rc = rerun_flight_begin(rerun_engine, recorded, problem);
		break;
	case TAPE_SUM:
		if (compares)
			rerun_flight_compare(rerun_engine, entry);
		break;
	case TAPE_GAP:
		meet_gap(rerun_engine, entry);
		break;
	case TAPE_END:
		if (compares)
			rerun_compare_end(rerun_engine, entry);
		worker->ended = true;
		break;
	}
	if (rerun_engine->has_ahead)
		read_ahead(rerun_engine);
	return rc;
}

/* ---- the engine ---- */

int rerun_engine_open(struct rerun_engine *rerun_engine, const struct scenario *scenario,
                      struct problem *problem)
{
	const struct rerun_options *options = rerun_engine->options;
	struct engine_setup setup = {
	        .statements = statements,
	        .pool = rerun_engine->supply->pool,
	        .seed = scenario->seed,
	        .witness = options->replay->witness,
	        .lacked_ns = &rerun_engine->starved_ns,
	        .filters = &filters,
	        .spread = pool_spread,
	        .make_room = make_room,
	        .room_argument = rerun_engine,
	        .live = true, /* latencies of devices count as in the run */
	};
	int rc;

	rerun_engine->first = scenario;
	rerun_engine->n_ports = scenario->n_ports;
	rerun_engine->digested = tape_digested(options->snap);
	for (uint32_t port = 0; port < scenario->n_ports; port++)
		rerun_engine->owned[port] = options->emulator[port] == rerun_engine->worker;
	rc = recorded_open(options->path, rerun_engine->worker, &rerun_engine->reader, problem);
	if (rc < 0)
		return rc;
	rerun_engine->memory_bytes =
	        options->replay->memory_bytes ? options->replay->memory_bytes : REPLAY_MEMORY;
	rerun_engine->memory = memory_reserve(rerun_engine->memory_bytes);
	setup.memory = rerun_engine->memory;
	setup.memory_bytes = rerun_engine->memory_bytes;
	rerun_engine->lasts = calloc(scenario->n_clouds + 1, sizeof(*rerun_engine->lasts));
	if (setup.memory && rerun_engine->lasts)
		rerun_engine->engine = engine_make(&setup);
	if (!rerun_engine->engine) {
		problem_set(problem, -1, "no memory for packets in flight");
		return -ENOMEM;
	}
	rc = rerun_engine_change(rerun_engine, scenario, 0, problem);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		rerun_engine->lasts[i] =
		        rerun_engine->owned[scenario_root(scenario, scenario->clouds[i])];
	read_ahead(rerun_engine);
	return 0;
}

void rerun_engine_close(struct rerun_engine *rerun_engine)
{
	engine_free(rerun_engine->engine);
	memory_free(rerun_engine->memory, rerun_engine->memory_bytes);
	recorded_close(rerun_engine->reader);
	free(rerun_engine->lasts);
	free(rerun_engine->parts);
	for (uint32_t port = 0; port < rerun_engine->n_ports; port++)
		free(rerun_engine->gone[port].list);
	memset(rerun_engine, 0, sizeof(*rerun_engine));
}
