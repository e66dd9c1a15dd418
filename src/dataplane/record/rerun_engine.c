/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "change/change.h"
#include "engine/engine_report.h"
#include "engine/engine_snapshot.h"
#include "packet/digest.h"
#include "record/recording.h"

struct instant instant_of(simtime t_ns)
{
	struct instant instant;

	snprintf(instant.text, sizeof(instant.text), "+%" PRIu64 ".%09" PRIu64 " s",
	         t_ns / SIMTIME_S, t_ns % SIMTIME_S);
	return instant;
}

/* ---- changes ---- */

static void report(const struct rerun_engine *rerun, uint32_t cloud)
{
	engine_report(rerun->offline.engine, rerun->first->clouds[cloud]->name,
	              &rerun->result->replay.clouds[cloud]);
}

/* Stores the reports of clouds that the change removes, because the engine forgets them. */
static void report_removed(struct rerun_engine *rerun, const struct change *change)
{
	const struct scenario *first = rerun->first;

	for (uint32_t i = 0; i < first->n_clouds; i++) {
		if (!rerun->lasts[i] || change_keeps(change, first->clouds[i]->name))
			continue;
		report(rerun, i);
		rerun->lasts[i] = false;
	}
}

/* Puts a scenario in force. Returns 0, or -errno with problem. */
static int rerun_engine_change(struct rerun_engine *rerun, const struct scenario *next, simtime now,
                               struct problem *problem)
{
	struct change *change;
	int rc = change_prepare(rerun->offline.engine, next, rerun->owned, &change, problem);

	if (rc < 0)
		return rc;
	report_removed(rerun, change);
	engine_apply(rerun->offline.engine, change, now);
	change_free(change);
	return 0;
}

void rerun_engine_report(const struct rerun_engine *rerun)
{
	for (uint32_t i = 0; i < rerun->first->n_clouds; i++) {
		if (rerun->lasts[i])
			report(rerun, i);
	}
}

/*
 * Runs a flight again. The engine of a worker, which has made the changes and met no packet, reads
 * the snapshot with which the flight begins.
 */

static int cannot(const struct rerun_engine *rerun, const char *why, struct problem *problem)
{
	return problem_set(problem, -1, "worker %u: its initial snapshot %s", rerun->worker, why);
}

/* Grows the memory with what has been read: the size in the file may be anything. */
static bool room_for(struct rerun_engine *rerun, uint64_t more)
{
	const uint64_t wanted = rerun->parts_done + more;
	uint8_t *parts;

	if (rerun->parts && wanted <= rerun->parts_room)
		return true;
	parts = realloc(rerun->parts, 2 * wanted);
	if (!parts)
		return false;
	rerun->parts = parts;
	rerun->parts_room = 2 * wanted;
	return true;
}

/* Appends one part of the snapshot. */
static int collect(struct rerun_engine *rerun, const struct recorded *recorded,
                   struct problem *problem)
{
	const struct tape_entry *entry = &recorded->entry;
	uint64_t bytes = recorded->bytes;

	if (entry->n == 0) {
		if (entry->number > RECORDING_SNAPSHOT_MOST)
			return cannot(rerun, "is larger than any snapshot can be", problem);
		rerun->parts_bytes = entry->number;
		rerun->parts_done = 0;
		if (!room_for(rerun, 1))
			return cannot(rerun, "finds no memory", problem);
	}
	if (!rerun->parts || entry->number != rerun->parts_bytes)
		return cannot(rerun, "is incomplete", problem);
	bytes = RTE_MIN(bytes, rerun->parts_bytes - rerun->parts_done);
	if (!room_for(rerun, bytes))
		return cannot(rerun, "finds no memory", problem);
	memcpy(rerun->parts + rerun->parts_done, recorded->data, bytes);
	rerun->parts_done += bytes;
	return 0;
}

static int restore(struct rerun_engine *rerun, const struct tape_entry *entry,
                   struct problem *problem)
{
	struct snapshot snapshot = {
	        .at = rerun->parts, .end = rerun->parts + rerun->parts_bytes, .restores = true};

	if (rerun->parts_done != rerun->parts_bytes ||
	    digest_fold(digest_bytes(0, rerun->parts, (uint32_t)rerun->parts_bytes)) != entry->word)
		return cannot(rerun, "is damaged", problem);
	tape_account_snapshot(&rerun->account, &snapshot);
	engine_snapshot(rerun->offline.engine, entry->t_ns, &snapshot);
	if (snapshot.failed || snapshot.at != snapshot.end)
		return cannot(rerun, "does not fit this scenario, or is damaged", problem);
	rerun->result->workers[rerun->worker].from_ns = entry->t_ns;
	rerun->begun = true;
	free(rerun->parts);
	rerun->parts = NULL;
	return 0;
}

/* Puts the other scenario in force: from here on it is another run. */
static int turn_off(struct rerun_engine *rerun, simtime now, struct problem *problem)
{
	const struct rerun_options *options = rerun->options;
	const struct scenario *next = options->begun(options->argument, rerun->worker, problem);

	return next ? rerun_engine_change(rerun, next, now, problem) : -EINVAL;
}

/* Takes a part of a snapshot; with the last part, the engine reads the snapshot. Later snapshots
 * are skipped. Returns 0, or -errno with problem if it cannot be read. */
static int flight_begin(struct rerun_engine *rerun, const struct recorded *recorded,
                        struct problem *problem)
{
	int rc = 0;

	if (!rerun->begun)
		rc = collect(rerun, recorded, problem);
	if (rc == 0 && !rerun->begun && (recorded->entry.flags & TAPE_LAST))
		rc = restore(rerun, &recorded->entry, problem);
	if (rc == 0 && rerun->begun && !rerun->turned_off && rerun->options->otherwise) {
		rerun->turned_off = true;
		rc = turn_off(rerun, recorded->entry.t_ns, problem);
	}
	return rc;
}

/* Checks, before an entry that needs an engine with a snapshot, that there was one. Returns 0, or
 * -errno with problem. */
static int flight_check(const struct rerun_engine *rerun, const struct tape_entry *entry,
                        struct problem *problem)
{
	if (rerun->begun || entry->kind == TAPE_CHANGE || entry->kind == TAPE_SNAPSHOT ||
	    entry->kind == TAPE_UNSENT)
		return 0;
	return cannot(rerun, "is missing or incomplete", problem);
}

/* ---- what leaves ---- */

static int leave(void *argument, uint32_t port, struct outlet *outlet)
{
	struct rerun_engine *rerun = argument;
	int error = 0;

	for (uint32_t i = 0; i < outlet->n; i++) {
		const uint32_t digest = digest_departure(outlet->mbufs[i], outlet->due_ns[i],
		                                         outlet->wire_bytes[i], rerun->digested);
		int rc = rerun_left(rerun, port, outlet->due_ns[i], digest);

		if (rc == 0)
			rc = rerun->leave(rerun->leave_argument, port, outlet->mbufs[i],
			                  outlet->due_ns[i], outlet->wire_bytes[i]);
		else
			rte_pktmbuf_free(outlet->mbufs[i]);
		if (rc < 0)
			error = rc;
	}
	outlet_clear(outlet);
	return error;
}

int rerun_engine_advance(struct rerun_engine *rerun, simtime now, struct problem *problem)
{
	int error;

	if (unlikely(now >= rerun->lacked_ns)) {
		now = rerun->lacked_ns > 0 ? rerun->lacked_ns - 1 : 0;
		rerun->has_ahead = false;
	}
	error = offline_engine_advance(&rerun->offline, now);
	if (error < 0)
		problem_set(problem, -1, "no memory for what leaves");
	return error;
}

/* ---- the entries ---- */

static void read_ahead(struct rerun_engine *rerun)
{
	rerun->has_ahead = recorded_next(rerun->reader, &rerun->ahead);
}

/* Ends the repetition of this worker: from here on, the recorded engine differs from this one. */
static void lose_track(struct rerun_engine *rerun, simtime known_ns, const char *why)
{
	struct rerun_worker *worker = &rerun->result->workers[rerun->worker];

	worker->known_ns = known_ns;
	snprintf(worker->unknown, sizeof(worker->unknown), "%.150s", why);
	rerun->has_ahead = false;
}

static int take_packets(struct rerun_engine *rerun, bool alone, struct problem *problem)
{
	const struct recorded first = rerun->ahead;
	struct rerun_result *result = rerun->result;
	struct replay_port_report *report = &result->replay.ports[first.entry.port];
	const struct recorded *ahead = &rerun->ahead;
	uint32_t age_ns[BURST_MAX];
	struct burst burst;
	bool aged = false;

	burst_open(&burst, first.entry.port, first.entry.number);
	do {
		struct rte_mbuf *mbuf =
		        mbuf_supply_frame(rerun->supply, ahead->data, ahead->bytes, problem);

		if (!mbuf) {
			rte_pktmbuf_free_bulk(burst.mbuf, burst.n);
			return -ENOMEM;
		}
		age_ns[burst.n] = ahead->age_ns;
		aged |= ahead->age_ns > 0;
		burst_put(&burst, mbuf, ahead->entry.t_ns, ahead->wire_bytes);
		read_ahead(rerun);
	} while (!alone && burst.n < BURST_MAX && rerun->has_ahead &&
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
	result->workers[rerun->worker].packets += burst.n;
	result->packets += burst.n;
	engine_ingress(rerun->offline.engine, &burst);
	return 0;
}

static int take_change(struct rerun_engine *rerun, const struct tape_entry *entry,
                       struct problem *problem)
{
	const struct rerun_options *options = rerun->options;
	const struct scenario *next =
	        options->change(options->argument, rerun->worker, entry->number, problem);
	int rc;

	if (!next) {
		lose_track(rerun, entry->t_ns, problem->text);
		return 0;
	}
	rc = rerun_engine_change(rerun, next, entry->t_ns, problem);
	if (rc == 0)
		rerun->result->workers[rerun->worker].changes++;
	return rc;
}

static void take_insertion(struct rerun_engine *rerun, const struct recorded *recorded)
{
	char cloud[TAPE_CLOUD_BYTES];
	const struct insertion insertion = {.cloud = cloud,
	                                    .n = recorded->entry.n,
	                                    .frame_bytes = (uint32_t)recorded->entry.number,
	                                    .frames = recorded->data + TAPE_CLOUD_BYTES};

	memcpy(cloud, recorded->data, sizeof(cloud));
	cloud[sizeof(cloud) - 1] = '\0';
	engine_insert(rerun->offline.engine, &insertion, recorded->entry.t_ns);
}

static void meet_gap(struct rerun_engine *rerun, const struct tape_entry *entry)
{
	char why[160];

	snprintf(why, sizeof(why),
	         "%u packets%s are not recorded, from %s to %s: the writer was too slow", entry->n,
	         entry->flags & TAPE_BLIND ? " and a change" : "", instant_of(entry->number).text,
	         instant_of(entry->t_ns).text);
	lose_track(rerun, entry->number, why);
}

/* Loses track if the repetition itself found no memory: what follows differs from the recording. */
static bool has_starved(struct rerun_engine *rerun)
{
	if (likely(rerun->starved_ns == SIMTIME_NEVER) || rerun->options->otherwise)
		return false;
	lose_track(rerun, rerun->starved_ns,
	           "the repetition has no memory for some packets; allow more with --memory");
	return true;
}

void rerun_engine_finish(struct rerun_engine *rerun, simtime now)
{
	const struct rerun_worker *worker = &rerun->result->workers[rerun->worker];

	if (rerun->lacked_ns > now + 1 || worker->unknown[0])
		return;
	lose_track(rerun, rerun->lacked_ns,
	           "from then on weir had no memory for some packets; what follows cannot be "
	           "repeated: give it more, with `weir run --memory` (--ideal continues)");
}

int rerun_engine_step(struct rerun_engine *rerun, bool alone, struct problem *problem)
{
	struct rerun_worker *worker = &rerun->result->workers[rerun->worker];
	const struct recorded *recorded = &rerun->ahead;
	const struct tape_entry *entry = &recorded->entry;
	const bool compares = !rerun->options->otherwise && entry->t_ns < worker->lacked_ns;
	int rc = 0;

	worker->took_part = true;
	worker->known_ns = entry->t_ns;
	if (unlikely(has_starved(rerun)))
		return 0;
	if (rerun->options->flight)
		rc = flight_check(rerun, entry, problem);
	if (rc < 0)
		return rc;
	switch (entry->kind) {
	case TAPE_PACKETS:
		if (entry->port >= rerun->n_ports || !rerun->owned[entry->port])
			return problem_set(
			        problem, -1,
			        "a packet of port %u, which does not belong to worker %u",
			        entry->port, rerun->worker);
		return take_packets(rerun, alone, problem);
	case TAPE_CHANGE:
		rc = take_change(rerun, entry, problem);
		break;
	case TAPE_CLEAR:
		engine_clear(rerun->offline.engine);
		break;
	case TAPE_INSERTION:
		take_insertion(rerun, recorded);
		break;
	case TAPE_SNAPSHOT:
		rc = flight_begin(rerun, recorded, problem);
		break;
	case TAPE_GAP:
		meet_gap(rerun, entry);
		break;
	case TAPE_DEPARTURES:
	case TAPE_CHECK:
	case TAPE_SUM:
	case TAPE_END:
		if (compares)
			rerun_compare(rerun, recorded);
		worker->ended |= entry->kind == TAPE_END;
		break;
	}
	if (rerun->has_ahead)
		read_ahead(rerun);
	return rc;
}

/* ---- the engine ---- */

int rerun_engine_open(struct rerun_engine *rerun, const struct scenario *scenario,
                      struct problem *problem)
{
	const struct rerun_options *options = rerun->options;
	const struct offline_engine_plan plan = {
	        .pool = rerun->supply->pool,
	        .memory_bytes = options->replay->memory_bytes,
	        .witness = options->replay->witness,
	        .lacked_ns = &rerun->starved_ns,
	        .live = true, /* latencies of devices count as in the run */
	        .leave = leave,
	        .argument = rerun,
	};
	int rc;

	rerun->first = scenario;
	rerun->n_ports = scenario->n_ports;
	rerun->digested = tape_digested(options->snap);
	for (uint32_t port = 0; port < scenario->n_ports; port++)
		rerun->owned[port] = options->emulator[port] == rerun->worker;
	rc = recorded_open(options->path, rerun->worker, &rerun->reader, problem);
	if (rc < 0)
		return rc;
	rerun->lasts = calloc(scenario->n_clouds + 1, sizeof(*rerun->lasts));
	if (!rerun->lasts) {
		problem_set(problem, -1, "no memory for packets in flight");
		return -ENOMEM;
	}
	rc = offline_engine_open(&rerun->offline, scenario, &plan, problem);
	if (rc < 0)
		return rc;
	rc = rerun_engine_change(rerun, scenario, 0, problem);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		rerun->lasts[i] = rerun->owned[scenario_root(scenario, scenario->clouds[i])];
	read_ahead(rerun);
	return 0;
}

void rerun_engine_close(struct rerun_engine *rerun)
{
	offline_engine_close(&rerun->offline);
	recorded_close(rerun->reader);
	free(rerun->lasts);
	free(rerun->parts);
	for (uint32_t port = 0; port < rerun->n_ports; port++)
		free(rerun->gone[port].list);
	memset(rerun, 0, sizeof(*rerun));
}
