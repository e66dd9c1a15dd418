/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_flight.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/engine_snapshot.h"
#include "packet/digest.h"
#include "record/recording.h"
#include "record/tape_snapshot.h"

static int cannot(const struct rerun_engine *rerun_engine, const char *why, struct problem *problem)
{
	problem_set(problem, -1, "worker %u: its initial snapshot %s", rerun_engine->worker, why);
	return -EINVAL;
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
	engine_snapshot(rerun_engine->engine, entry->t_ns, &snapshot);
	if (snapshot.failed || snapshot.at != snapshot.end)
		return cannot(rerun_engine, "does not fit this scenario, or is damaged", problem);
	rerun_engine->result->workers[rerun_engine->worker].from_ns = entry->t_ns;
	rerun_engine->begun = true;
	free(rerun_engine->parts);
	rerun_engine->parts = NULL;
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

int rerun_flight_begin(struct rerun_engine *rerun_engine, const struct recorded *recorded,
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

int rerun_flight_check(const struct rerun_engine *rerun_engine, const struct tape_entry *entry,
                       struct problem *problem)
{
	if (rerun_engine->begun || entry->kind == TAPE_CHANGE || entry->kind == TAPE_SNAPSHOT ||
	    entry->kind == TAPE_UNSENT)
		return 0;
	return cannot(rerun_engine, "is missing or incomplete", problem);
}

void rerun_flight_compare(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
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
