/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "change/change.h"
#include "engine/engine_digest.h"
#include "engine/engine_report.h"
#include "engine/engine_snapshot.h"
#include "packet/digest.h"
#include "record/recording.h"

/* Stores a difference between the repetition and the run; only the first one counts. */
static __attribute__((format(printf, 2, 3))) void
rerun_engine_differ(struct rerun_engine *rerun_engine, const char *format, ...)
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

/*
 * Compares a repetition with what the recorded engine did: each departure, the counters of clouds
 * from time to time, and the end. The first difference counts (rerun_engine_differ).
 */

/* ---- departures ---- */

/* Adds a packet that has left here, and waits for its entry. Returns 0 or -ENOMEM. */
static int rerun_gone_add(struct gone_queue *queue, simtime due_ns, uint32_t digest)
{
	if (queue->n == queue->room) {
		const uint32_t room = queue->room ? 2 * queue->room : 1024;
		struct gone *list = malloc(room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		for (uint32_t i = 0; i < queue->n; i++)
			list[i] = queue->list[(queue->first + i) & (queue->room - 1)];
		free(queue->list);
		queue->list = list;
		queue->room = room;
		queue->first = 0;
	}
	queue->list[(queue->first + queue->n++) & (queue->room - 1)] =
	        (struct gone){due_ns, digest};
	return 0;
}

static struct gone *gone_at(const struct gone_queue *queue, uint32_t i)
{
	return &queue->list[(queue->first + i) & (queue->room - 1)];
}

static void gone_pass(struct gone_queue *queue, uint32_t n)
{
	queue->first = (queue->first + n) & (queue->room - 1);
	queue->n -= n;
	queue->passed += n;
}

/* Searches the packets that are due in the same nanosecond as the head. In a version before 0.2.0
 * they may have left in another order, if the outlet was full. */
static bool find_beside(struct rerun_engine *rerun_engine, struct gone_queue *queue,
                        uint32_t digest)
{
	struct gone *head = gone_at(queue, 0);

	for (uint32_t i = 1; i < queue->n && gone_at(queue, i)->due_ns == head->due_ns; i++) {
		struct gone *other = gone_at(queue, i), kept = *head;

		if (other->digest != digest)
			continue;
		*head = *other;
		*other = kept;
		rerun_engine->result->swapped++;
		return true;
	}
	return false;
}

/* For an entry TAPE_DEPARTURES, TAPE_CHECK, TAPE_END. */
static void rerun_compare_departures(struct rerun_engine *rerun_engine,
                                     const struct recorded *recorded)
{
	const struct tape_entry *entry = &recorded->entry;
	struct gone_queue *queue = &rerun_engine->gone[entry->port];
	const uint64_t before = queue->passed + 1;

	if (entry->number > before) {
		rerun_engine->skipped = true;
		gone_pass(queue, (uint32_t)RTE_MIN((uint64_t)queue->n, entry->number - before));
	}
	for (uint32_t i = 0; i < entry->n; i++) {
		const uint64_t which = entry->number + i;
		uint32_t digest;

		memcpy(&digest, recorded->data + i * sizeof(digest), sizeof(digest));
		if (queue->n == 0 || queue->passed + 1 != which) {
			rerun_engine_differ(
			        rerun_engine,
			        "worker %u: packet %" PRIu64
			        " out of port %u left by %s in the run, but not in the repetition",
			        rerun_engine->worker, which, entry->port,
			        instant_of(entry->t_ns).text);
			return;
		}
		if (gone_at(queue, 0)->digest != digest &&
		    !find_beside(rerun_engine, queue, digest)) {
			rerun_engine_differ(rerun_engine,
			                    "worker %u: packet %" PRIu64
			                    " out of port %u, by %s: differs from the run, or left "
			                    "at another instant; here it is due at %s",
			                    rerun_engine->worker, which, entry->port,
			                    instant_of(entry->t_ns).text,
			                    instant_of(gone_at(queue, 0)->due_ns).text);
			return;
		}
		gone_pass(queue, 1);
		rerun_engine->result->compared++;
	}
}

static void rerun_compare_counters(struct rerun_engine *rerun_engine,
                                   const struct tape_entry *entry)
{
	struct engine_digest digest;

	/* Control removes a cloud from its slot at a time of its own, which may differ here. */
	if (!engine_digest_at(rerun_engine->offline.engine, entry->n, &digest) ||
	    digest_name(digest.cloud) != entry->word)
		return;
	if (digest.counters == entry->number) {
		rerun_engine->result->checks++;
		return;
	}
	rerun_engine_differ(rerun_engine, "worker %u: the counters of cloud %s differ at %s",
	                    rerun_engine->worker, digest.cloud, instant_of(entry->t_ns).text);
}

static void rerun_compare_end(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
{
	if ((entry->flags & TAPE_UNSETTLED) || rerun_engine->skipped)
		return;
	for (uint32_t port = 0; port < rerun_engine->n_ports; port++) {
		const struct gone_queue *queue = &rerun_engine->gone[port];

		if (queue->n > 0)
			rerun_engine_differ(rerun_engine,
			                    "worker %u: packet %" PRIu64
			                    " out of port %u leaves at %s in the repetition, but "
			                    "did not leave in the run",
			                    rerun_engine->worker, queue->passed + 1, port,
			                    instant_of(gone_at(queue, 0)->due_ns).text);
	}
}

/*
 * Runs a flight again. The engine of a worker, which has made the changes and met no packet, reads
 * the snapshot with which the flight begins. In place of a digest of each departure, a flight has
 * the number of departures at each port, and the sum of their due times.
 */

/* Counts a packet that has left. */
static inline void rerun_flight_left(struct rerun_engine *rerun_engine, uint32_t port,
                                     simtime due_ns)
{
	rerun_engine->account.departed[port]++;
	rerun_engine->account.sums[port] += due_ns;
}

static int cannot(const struct rerun_engine *rerun_engine, const char *why, struct problem *problem)
{
	return problem_set(problem, -1, "worker %u: its initial snapshot %s", rerun_engine->worker,
	                   why);
}

/* Grows the memory with what has been read: the size in the file may be anything. */
static bool room_for(struct rerun_engine *rerun_engine, uint64_t more)
{
	const uint64_t wanted = rerun_engine->parts_done + more;
	uint8_t *parts;

	if (rerun_engine->parts && wanted <= rerun_engine->parts_room)
		return true;
	parts = realloc(rerun_engine->parts, 2 * wanted);
	if (!parts)
		return false;
	rerun_engine->parts = parts;
	rerun_engine->parts_room = 2 * wanted;
	return true;
}

/* Appends one part of the snapshot. */
static int collect(struct rerun_engine *rerun_engine, const struct recorded *recorded,
                   struct problem *problem)
{
	const struct tape_entry *entry = &recorded->entry;
	uint64_t bytes = recorded->bytes;

	if (entry->n == 0) {
		if (entry->number > RECORDING_SNAPSHOT_MOST)
			return cannot(rerun_engine, "is larger than any snapshot can be", problem);
		rerun_engine->parts_bytes = entry->number;
		rerun_engine->parts_done = 0;
		if (!room_for(rerun_engine, 1))
			return cannot(rerun_engine, "finds no memory", problem);
	}
	if (!rerun_engine->parts || entry->number != rerun_engine->parts_bytes)
		return cannot(rerun_engine, "is incomplete", problem);
	bytes = RTE_MIN(bytes, rerun_engine->parts_bytes - rerun_engine->parts_done);
	if (!room_for(rerun_engine, bytes))
		return cannot(rerun_engine, "finds no memory", problem);
	memcpy(rerun_engine->parts + rerun_engine->parts_done, recorded->data, bytes);
	rerun_engine->parts_done += bytes;
	return 0;
}

static int restore(struct rerun_engine *rerun_engine, const struct tape_entry *entry,
                   struct problem *problem)
{
	struct snapshot snapshot = {.at = rerun_engine->parts,
	                            .end = rerun_engine->parts + rerun_engine->parts_bytes,
	                            .restores = true};

	if (rerun_engine->parts_done != rerun_engine->parts_bytes ||
	    digest_fold(digest_bytes(0, rerun_engine->parts,
	                             (uint32_t)rerun_engine->parts_bytes)) != entry->word)
		return cannot(rerun_engine, "is damaged", problem);
	tape_account_snapshot(&rerun_engine->account, &snapshot);
	engine_snapshot(rerun_engine->offline.engine, entry->t_ns, &snapshot);
	if (snapshot.failed || snapshot.at != snapshot.end)
		return cannot(rerun_engine, "does not fit this scenario, or is damaged", problem);
	rerun_engine->result->workers[rerun_engine->worker].from_ns = entry->t_ns;
	rerun_engine->begun = true;
	free(rerun_engine->parts);
	rerun_engine->parts = NULL;
	return 0;
}

static void report(const struct rerun_engine *rerun_engine, uint32_t cloud)
{
	engine_report(rerun_engine->offline.engine, rerun_engine->first->clouds[cloud]->name,
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

/* Puts a scenario in force. Returns 0, or -errno with problem. */
static int rerun_engine_change(struct rerun_engine *rerun_engine, const struct scenario *next,
                               simtime now, struct problem *problem)
{
	struct change *change;
	int rc = change_prepare(rerun_engine->offline.engine, next, rerun_engine->owned, &change,
	                        problem);

	if (rc < 0)
		return rc;
	report_removed(rerun_engine, change);
	engine_apply(rerun_engine->offline.engine, change, now);
	change_free(change);
	return 0;
}

/* Puts the other scenario in force: from here on it is another run. */
static int turn_off(struct rerun_engine *rerun_engine, simtime now, struct problem *problem)
{
	const struct rerun_options *options = rerun_engine->options;
	const struct scenario *next =
	        options->begun(options->argument, rerun_engine->worker, problem);

	return next ? rerun_engine_change(rerun_engine, next, now, problem) : -EINVAL;
}

/* Takes a part of a snapshot; with the last part, the engine reads the snapshot. Later snapshots
 * are skipped. Returns 0, or -errno with problem if it cannot be read. */
static int rerun_flight_begin(struct rerun_engine *rerun_engine, const struct recorded *recorded,
                              struct problem *problem)
{
	int rc = 0;

	if (!rerun_engine->begun)
		rc = collect(rerun_engine, recorded, problem);
	if (rc == 0 && !rerun_engine->begun && (recorded->entry.flags & TAPE_LAST))
		rc = restore(rerun_engine, &recorded->entry, problem);
	if (rc == 0 && rerun_engine->begun && !rerun_engine->turned_off &&
	    rerun_engine->options->otherwise) {
		rerun_engine->turned_off = true;
		rc = turn_off(rerun_engine, recorded->entry.t_ns, problem);
	}
	return rc;
}

/* Checks, before an entry that needs an engine with a snapshot, that there was one. Returns 0, or
 * -errno with problem. */
static int rerun_flight_check(const struct rerun_engine *rerun_engine,
                              const struct tape_entry *entry, struct problem *problem)
{
	if (rerun_engine->begun || entry->kind == TAPE_CHANGE || entry->kind == TAPE_SNAPSHOT ||
	    entry->kind == TAPE_UNSENT)
		return 0;
	return cannot(rerun_engine, "is missing or incomplete", problem);
}

/* Compares departures with an entry TAPE_SUM. */
static void rerun_flight_compare(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
{
	const struct tape_account *account = &rerun_engine->account;
	const uint32_t departed = (uint32_t)account->departed[entry->port];

	if (departed == entry->n && account->sums[entry->port] == entry->number) {
		rerun_engine->result->checks++;
		return;
	}
	rerun_engine_differ(rerun_engine, "worker %u: up to %s, %s packets left port %u%s",
	                    rerun_engine->worker, instant_of(entry->t_ns).text,
	                    departed == entry->n ? "the same number of" : "a different number of",
	                    entry->port,
	                    departed == entry->n ? ", but not at the same instants" : "");
}

struct instant instant_of(simtime t_ns)
{
	struct instant instant;

	snprintf(instant.text, sizeof(instant.text), "+%" PRIu64 ".%09" PRIu64 " s",
	         t_ns / SIMTIME_S, t_ns % SIMTIME_S);
	return instant;
}

/* ---- what leaves ---- */

static int leave(void *argument, uint32_t port, struct outlet *outlet)
{
	struct rerun_engine *rerun_engine = argument;
	int error = 0;

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
			error = rc;
	}
	outlet_clear(outlet);
	return error;
}

int rerun_engine_advance(struct rerun_engine *rerun_engine, simtime now, struct problem *problem)
{
	int error;

	if (unlikely(now >= rerun_engine->lacked_ns)) {
		now = rerun_engine->lacked_ns > 0 ? rerun_engine->lacked_ns - 1 : 0;
		rerun_engine->has_ahead = false;
	}
	error = offline_engine_advance(&rerun_engine->offline, now);
	if (error < 0)
		problem_set(problem, -1, "no memory for what leaves");
	return error;
}

/* ---- changes ---- */

void rerun_engine_report(const struct rerun_engine *rerun_engine)
{
	for (uint32_t i = 0; i < rerun_engine->first->n_clouds; i++) {
		if (rerun_engine->lasts[i])
			report(rerun_engine, i);
	}
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
	engine_ingress(rerun_engine->offline.engine, &burst);
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
	engine_insert(rerun_engine->offline.engine, &insertion, recorded->entry.t_ns);
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
		if (entry->port >= rerun_engine->n_ports || !rerun_engine->owned[entry->port])
			return problem_set(
			        problem, -1,
			        "a packet of port %u, which does not belong to worker %u",
			        entry->port, rerun_engine->worker);
		return take_packets(rerun_engine, alone, problem);
	case TAPE_CHANGE:
		rc = take_change(rerun_engine, entry, problem);
		break;
	case TAPE_CLEAR:
		engine_clear(rerun_engine->offline.engine);
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
	const struct offline_engine_plan plan = {
	        .pool = rerun_engine->supply->pool,
	        .memory_bytes = options->replay->memory_bytes,
	        .witness = options->replay->witness,
	        .lacked_ns = &rerun_engine->starved_ns,
	        .live = true, /* latencies of devices count as in the run */
	        .leave = leave,
	        .argument = rerun_engine,
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
	rerun_engine->lasts = calloc(scenario->n_clouds + 1, sizeof(*rerun_engine->lasts));
	if (!rerun_engine->lasts) {
		problem_set(problem, -1, "no memory for packets in flight");
		return -ENOMEM;
	}
	rc = offline_engine_open(&rerun_engine->offline, scenario, &plan, problem);
	if (rc < 0)
		return rc;
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
	offline_engine_close(&rerun_engine->offline);
	recorded_close(rerun_engine->reader);
	free(rerun_engine->lasts);
	free(rerun_engine->parts);
	for (uint32_t port = 0; port < rerun_engine->n_ports; port++)
		free(rerun_engine->gone[port].list);
	memset(rerun_engine, 0, sizeof(*rerun_engine));
}
