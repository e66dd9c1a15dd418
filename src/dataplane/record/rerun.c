/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/engine_report.h"
#include "machine/pool.h"
#include "offline/egress.h"
#include "packet/digest.h"
#include "record/rerun_engine.h"
#include "record/tape.h"

/* Steps between two reports of progress. */
#define PROGRESS_STEPS 8192u

/* A real loss of a port. */
struct unsent {
	simtime due_ns;
	uint32_t port, digest;
	bool met; /* the lost packet has been met */
};

/* A packet that leaves. It waits until all engines have reached its instant. */
struct leaving {
	struct rte_mbuf *mbuf;
	simtime due_ns;
	uint32_t wire_bytes;
};

struct leavings {
	struct leaving *list;
	uint32_t n, room;
};

struct rerun {
	const struct scenario *scenario; /* at the beginning */
	const struct rerun_options *options;
	struct rerun_result *result;
	struct problem *problem;
	struct mbuf_supply supply;
	struct intake no_captures; /* an intake without captures, because egress needs one */
	struct egress egress;
	struct rerun_engine *engines;
	uint32_t n_ports, n_open;
	struct leavings leavings[SCENARIO_PORTS_MAX];
	struct unsent *unsents;
	size_t n_unsents, room_unsents;
	simtime now;
	uint64_t all_bytes;
	uint32_t until_progress;
	uint32_t digested;
};

/* ---- reading the file ahead ---- */

static int unsent_order(const void *a, const void *b)
{
	const struct unsent *one = a, *two = b;

	if (one->due_ns != two->due_ns)
		return one->due_ns < two->due_ns ? -1 : 1;
	if (one->port != two->port)
		return one->port < two->port ? -1 : 1;
	return one->digest < two->digest ? -1 : one->digest > two->digest;
}

static int unsent_add(struct rerun *rerun, const struct tape_entry *entry)
{
	if (rerun->n_unsents == rerun->room_unsents) {
		size_t room = 2 * rerun->room_unsents + 64;
		struct unsent *unsents = realloc(rerun->unsents, room * sizeof(*unsents));

		if (!unsents)
			return -ENOMEM;
		rerun->unsents = unsents;
		rerun->room_unsents = room;
	}
	rerun->unsents[rerun->n_unsents++] =
	        (struct unsent){entry->number, entry->port, entry->word, false};
	return 0;
}

static void note_lack(struct rerun_worker *worker, const struct tape_entry *entry)
{
	worker->lacked_ns = simtime_min(worker->lacked_ns, tape_lacked_ns(entry));
}

/* Collects the real losses of the whole file, and when memory was first short, because they are
 * recorded behind the packets to which they belong. */
static int look_through(struct rerun *rerun)
{
	struct rerun_result *result = rerun->result;
	struct recorded_reader *reader;
	struct recorded recorded;
	int rc = recorded_open(rerun->options->path, RECORDED_ALL, &reader, rerun->problem);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < RERUN_WORKERS_MAX; i++)
		result->workers[i].lacked_ns = SIMTIME_NEVER;
	while (rc == 0 && recorded_next(reader, &recorded)) {
		if (recorded.entry.kind == TAPE_UNSENT)
			rc = unsent_add(rerun, &recorded.entry);
		if (recorded.worker < RERUN_WORKERS_MAX)
			note_lack(&result->workers[recorded.worker], &recorded.entry);
	}
	result->unsent = rerun->n_unsents;
	rerun->all_bytes = recorded_done_bytes(reader);
	snprintf(result->damage, sizeof(result->damage), "%s", recorded_damage(reader));
	recorded_close(reader);
	if (rerun->n_unsents > 0)
		qsort(rerun->unsents, rerun->n_unsents, sizeof(*rerun->unsents), unsent_order);
	if (rc < 0)
		problem_set(rerun->problem, -1, "no memory");
	return rc;
}

/* Returns true if the packet was lost at its port. A packet may equal its copy, and only one of
 * them may be lost: each loss is used once. */
static bool was_unsent(struct rerun *rerun, uint32_t port, const struct rte_mbuf *mbuf,
                       simtime due_ns)
{
	const struct unsent wanted = {
	        .due_ns = due_ns,
	        .port = port,
	        .digest = digest_departure(mbuf, due_ns, mbuf->pkt_len, rerun->digested)};
	struct unsent *end = rerun->unsents + rerun->n_unsents;
	struct unsent *one =
	        bsearch(&wanted, rerun->unsents, rerun->n_unsents, sizeof(wanted), unsent_order);

	if (!one)
		return false;
	while (one > rerun->unsents && unsent_order(one - 1, &wanted) == 0)
		one--;
	for (; one < end && unsent_order(one, &wanted) == 0; one++) {
		if (one->met)
			continue;
		one->met = true;
		return true;
	}
	return false;
}

/* ---- what leaves ---- */

static int leave(void *argument, uint32_t port, struct rte_mbuf *mbuf, simtime due_ns,
                 uint32_t wire_bytes)
{
	struct rerun *rerun = argument;
	struct leavings *leavings = &rerun->leavings[port];

	if (unlikely(rerun->n_unsents > 0) && !rerun->options->ideal &&
	    was_unsent(rerun, port, mbuf, due_ns)) {
		rte_pktmbuf_free(mbuf);
		return 0;
	}
	if (leavings->n == leavings->room) {
		uint32_t room = 2 * leavings->room + 64;
		struct leaving *list = realloc(leavings->list, room * sizeof(*list));

		if (!list) {
			rte_pktmbuf_free(mbuf);
			return -ENOMEM;
		}
		leavings->list = list;
		leavings->room = room;
	}
	leavings->list[leavings->n++] = (struct leaving){mbuf, due_ns, wire_bytes};
	return 0;
}

/* Sorts by due time. The packets of each engine are in order, behind those of the previous
 * engine. */
static void put_in_order(struct leavings *leavings)
{
	struct leaving *list = leavings->list;

	for (uint32_t i = 1; i < leavings->n; i++) {
		const struct leaving one = list[i];
		uint32_t at = i;

		for (; at > 0 && list[at - 1].due_ns > one.due_ns; at--)
			list[at] = list[at - 1];
		list[at] = one;
	}
}

/* Writes what has left. All engines have reached this instant. */
static int write_out(struct rerun *rerun)
{
	int rc = 0;

	for (uint32_t port = 0; port < rerun->n_ports; port++) {
		struct leavings *leavings = &rerun->leavings[port];
		struct outlet outlet = {.n = 0};

		if (leavings->n == 0)
			continue;
		put_in_order(leavings);
		for (uint32_t i = 0; i < leavings->n; i++) {
			const struct leaving *one = &leavings->list[i];

			if (rc < 0) {
				rte_pktmbuf_free(one->mbuf);
				continue;
			}
			outlet_put(&outlet, one->mbuf, one->due_ns, one->wire_bytes);
			if (outlet.n == OUTLET_ROOM || i + 1 == leavings->n)
				rc = egress_write(&rerun->egress, port, &outlet, rerun->problem);
		}
		leavings->n = 0;
	}
	return rc;
}

/* ---- time passes ---- */

static int advance(struct rerun *rerun, simtime now)
{
	const struct replay_options *replay = rerun->options->replay;
	int rc = 0;

	for (uint32_t i = 0; i < rerun->n_open && rc == 0; i++) {
		const struct rerun_worker *worker = &rerun->result->workers[i];

		/* What would have left later is unknown. */
		if (!worker->ended && !worker->unknown[0])
			rc = rerun_engine_advance(&rerun->engines[i], now, rerun->problem);
	}
	if (rc == 0)
		rc = write_out(rerun);
	if (rc == 0 && replay->stepped)
		rc = replay->stepped(replay->argument, now, rerun->problem);
	return rc;
}

static int look_up(struct rerun *rerun, const struct rerun_engine *rerun_engine)
{
	const struct replay_options *replay = rerun->options->replay;

	if (replay->stop && *replay->stop) {
		problem_set(rerun->problem, -1, "interrupted: nothing was written");
		return -EINTR;
	}
	if (rerun->until_progress-- > 0)
		return 0;
	rerun->until_progress = PROGRESS_STEPS;
	if (replay->progress)
		replay->progress(replay->argument, recorded_done_bytes(rerun_engine->reader),
		                 rerun->all_bytes);
	return 0;
}

/* Returns the engine whose entry is next, or NULL if there is none. */
static struct rerun_engine *whose_turn(struct rerun *rerun)
{
	struct rerun_engine *next = NULL;

	for (uint32_t i = 0; i < rerun->n_open; i++) {
		struct rerun_engine *one = &rerun->engines[i];

		if (one->has_ahead && (!next || rerun_engine_next(one) < rerun_engine_next(next)))
			next = one;
	}
	return next;
}

int rerun_next(struct rerun *rerun)
{
	const simtime until_ns = rerun->options->until_ns;
	const bool alone = rerun->options->replay->witness != NULL;
	struct rerun_engine *next = rerun->result->differs ? NULL : whose_turn(rerun);
	simtime t_ns;
	int rc = 0;

	if (!next)
		return 0;
	t_ns = simtime_max(rerun_engine_next(next), rerun->now);
	if (t_ns > until_ns) {
		rerun->now = until_ns;
		return 0;
	}
	/* Many entries have one instant, that of a poll, so engines are not advanced for each. */
	if (t_ns > rerun->now || next->ahead.entry.kind != TAPE_PACKETS)
		rc = advance(rerun, t_ns);
	/* In a damaged file, an instant may precede an earlier one. */
	next->ahead.entry.t_ns = rerun->now = t_ns;
	if (rc == 0 && next->has_ahead)
		rc = rerun_engine_step(next, alone, rerun->problem);
	if (rc == 0)
		rc = look_up(rerun, next);
	return rc < 0 ? rc : 1;
}

/* ---- the end ---- */

static void report(struct rerun *rerun)
{
	struct replay_result *result = &rerun->result->replay;

	for (uint32_t i = 0; i < rerun->n_open; i++)
		rerun_engine_report(&rerun->engines[i]);
	for (uint32_t port = 0; port < rerun->n_ports; port++) {
		const struct engine *engine =
		        rerun->engines[rerun->options->emulator[port]].offline.engine;

		result->ports[port].no_cloud = engine_no_cloud(engine, port);
		result->ports[port].untouched = engine_untouched(engine, rerun->scenario, port);
	}
}

/* Returns false for a worker without clouds (in a pipeline). Its engine meets nothing, and its tape
 * has no END. */
static bool has_clouds(const struct rerun *rerun, uint32_t worker)
{
	for (uint32_t port = 0; port < rerun->n_ports; port++) {
		if (rerun->options->emulator[port] == worker)
			return true;
	}
	return false;
}

static void check_damage(const struct rerun *rerun)
{
	for (uint32_t i = 0; i < rerun->n_open; i++) {
		struct rerun_worker *worker = &rerun->result->workers[i];

		if (!worker->ended && !worker->unknown[0] && worker->took_part &&
		    has_clouds(rerun, i) && rerun->options->until_ns == SIMTIME_NEVER)
			snprintf(worker->unknown, sizeof(worker->unknown),
			         "the recording ends before this worker does");
	}
}

int rerun_finish(struct rerun *rerun)
{
	const struct replay_options *replay = rerun->options->replay;
	struct replay_result *result = &rerun->result->replay;
	int rc;

	result->last_ns = rerun->now;
	if (rerun->result->differs)
		return 0;
	rc = advance(rerun, rerun->now);
	if (rc < 0 || rerun->result->differs)
		return rc;
	for (uint32_t i = 0; i < rerun->n_open; i++)
		rerun_engine_finish(&rerun->engines[i], rerun->now);
	check_damage(rerun);
	report(rerun);
	rc = egress_finish(&rerun->egress, rerun->problem);
	if (rc == 0 && replay->complete)
		rc = replay->complete(replay->argument, result, rerun->problem);
	return rc < 0 ? rc : egress_publish(&rerun->egress, rerun->problem);
}

/* ---- the beginning ---- */

static int open_all(struct rerun *rerun)
{
	const struct rerun_options *options = rerun->options;
	const struct replay_options *replay = options->replay;
	const struct mbuf_supply_plan plan = {
	        .memory_bytes = replay->memory_bytes ? replay->memory_bytes : REPLAY_MEMORY,
	        .outlets = rerun->n_ports * options->workers,
	        .ops = replay->mempool_ops,
	};
	int rc = look_through(rerun);

	if (rc == 0)
		rc = mbuf_supply_open(&rerun->supply, &plan, rerun->problem);
	for (uint32_t i = 0; rc == 0 && i < options->workers; i++) {
		struct rerun_engine *one = &rerun->engines[i];

		*one = (struct rerun_engine){.options = options,
		                             .result = rerun->result,
		                             .supply = &rerun->supply,
		                             .leave = leave,
		                             .leave_argument = rerun,
		                             .worker = i,
		                             .lacked_ns = rerun->result->workers[i].lacked_ns,
		                             .starved_ns = SIMTIME_NEVER};
		if (options->ideal)
			one->lacked_ns = SIMTIME_NEVER;
		rerun->n_open = i + 1;
		rc = rerun_engine_open(one, rerun->scenario, rerun->problem);
	}
	rerun->no_captures.options = replay;
	if (rc == 0)
		rc = egress_open(&rerun->egress, &rerun->no_captures, NULL, &rerun->result->replay,
		                 rerun->problem);
	return rc;
}

int rerun_open(const struct scenario *scenario, const struct rerun_options *options,
               struct rerun_result *result, struct problem *problem, struct rerun **opened)
{
	struct rerun *rerun = calloc(1, sizeof(*rerun));
	int rc = -ENOMEM;

	problem_set(problem, -1, "no memory for a replay");
	if (!rerun)
		return rc;
	rerun->scenario = scenario;
	rerun->options = options;
	rerun->result = result;
	rerun->problem = problem;
	rerun->n_ports = scenario->n_ports;
	rerun->digested = tape_digested(options->snap);
	rerun->engines = calloc(options->workers, sizeof(*rerun->engines));
	result->replay.clouds = calloc(scenario->n_clouds + 1, sizeof(*result->replay.clouds));
	result->replay.n_clouds = result->replay.clouds ? scenario->n_clouds : 0;
	if (rerun->engines && result->replay.clouds)
		rc = open_all(rerun);
	if (rc == 0)
		*opened = rerun;
	else
		rerun_close(rerun);
	return rc;
}

void rerun_close(struct rerun *rerun)
{
	struct witness *witness;

	if (!rerun)
		return;
	/* What the engines still hold has not been dropped: the recording ends before its fate. */
	witness = rerun->options->replay->witness;
	if (witness)
		witness->way = 0;
	egress_close(&rerun->egress);
	for (uint32_t port = 0; port < rerun->n_ports; port++) {
		for (uint32_t i = 0; i < rerun->leavings[port].n; i++)
			rte_pktmbuf_free(rerun->leavings[port].list[i].mbuf);
		free(rerun->leavings[port].list);
	}
	for (uint32_t i = 0; i < rerun->n_open; i++)
		rerun_engine_close(&rerun->engines[i]);
	mbuf_supply_close(&rerun->supply);
	free(rerun->unsents);
	free(rerun->engines);
	free(rerun);
}

int rerun_run(const struct scenario *scenario, const struct rerun_options *options,
              struct rerun_result *result, struct problem *problem)
{
	struct rerun *rerun;
	int rc = rerun_open(scenario, options, result, problem, &rerun);

	if (rc < 0)
		return rc;
	do
		rc = rerun_next(rerun);
	while (rc > 0);
	if (rc == 0)
		rc = rerun_finish(rerun);
	rerun_close(rerun);
	return rc;
}
