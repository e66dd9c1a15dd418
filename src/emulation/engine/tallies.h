/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tallies (account/tally.h) of a cloud's statements, in the order of scenario/tallied.h. A
 * statement that a change keeps, keeps its tally. The clouds of a template share one list, that of
 * the head: one worker runs them all.
 *
 * Thread: made and freed by control, exchanged by the worker; control reads the list in force until
 * it frees it.
 */
#ifndef WEIR_TALLIES_H
#define WEIR_TALLIES_H

#include "account/tally.h"
#include "engine/cloud.h"

struct tallies {
	uint32_t n;
	struct tally *tally[]; /* held */
};

/* ---- control ---- */

/* Returns the list of a configuration whose statements have their tallies, or NULL if there is no
 * memory. */
struct tallies *tallies_make(const struct cloud_conf *cloud);
/* Returns true if that list would be equal to this one, which may be NULL. */
bool tallies_are(const struct tallies *tallies, const struct cloud_conf *cloud);
void tallies_free(struct tallies *tallies);
/* Copies them, while the worker counts; returns their number. */
uint32_t tallies_read(const struct cloud *cloud, struct tally copy[TALLIES_MAX]);

/* ---- worker ---- */

/* Puts the list in force; `tallies` becomes the one before. */
void tallies_exchange(struct cloud *cloud, struct tallies **tallies);
void tallies_clear(struct cloud *cloud);
void tallies_snapshot(struct cloud *cloud, struct snapshot *snapshot);

static inline uint64_t tallies_acted(struct cloud *cloud, const struct statement *statement)
{
	const char *counters = (const char *)&cloud->counters;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < STATEMENT_ACTS && statement->acts[i]; i++)
		sum += *(const uint64_t *)(counters + statement->acts[i]);
	return sum;
}

/* Lets a burst pass a stage, and counts what the stage does. */
static inline void cloud_run_stage(struct cloud *cloud, struct stage *stage, struct burst *burst)
{
	struct tally *tally = stage->tally;

	if (tally) {
		uint64_t before = tallies_acted(cloud, stage->statement);

		tally->came += burst->n;
		stage->process(stage, burst);
		tally->acted += tallies_acted(cloud, stage->statement) - before;
	} else {
		stage->process(stage, burst);
	}
	burst_close(burst, 0);
}

#endif
