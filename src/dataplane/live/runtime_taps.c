/* SPDX-License-Identifier: BSD-3-Clause */
/* The taps of a runtime. One set of taps is posted at a time, and taken by every worker. */
#include <errno.h>
#include <stdlib.h>

#include "live/runtime_state.h"

/* ---- sets ---- */

static struct tap_set *set_of(const struct runtime_taps *taps)
{
	struct tap_set *set = calloc(1, sizeof(*set));

	for (uint32_t i = 0; set && i < taps->n; i++) {
		if (taps->taps[i]->ended)
			continue;
		set->kinds |= taps->taps[i]->plan.kinds;
		set->taps[set->n++] = taps->taps[i];
	}
	return set;
}

static bool all_taken(const struct runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (!message_wait(&runtime->taps.messages[i], 0))
			return false;
	}
	return true;
}

/* Completes the posted set if all workers have taken it, and posts the next one if
 * the taps have changed. */
static void runtime_taps_step(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;
	struct tap_set *set;

	if (!runtime->running)
		return;
	if (taps->posted && all_taken(runtime)) {
		/* The set before it is freed, and so are the ended taps that are in no set. */
		uint32_t kept = 0;

		free(taps->force);
		taps->force = taps->posted;
		taps->posted = NULL;
		for (uint32_t i = 0; i < taps->n; i++) {
			bool there = false;

			for (uint32_t k = 0; k < taps->force->n; k++)
				there |= taps->force->taps[k] == taps->taps[i];
			if (taps->taps[i]->ended && !there)
				tap_free(taps->taps[i]);
			else
				taps->taps[kept++] = taps->taps[i];
		}
		taps->n = kept;
	}
	if (taps->posted || !taps->changed)
		return;
	set = set_of(taps);
	if (!set)
		return; /* it is posted at a later step */
	taps->posted = set;
	taps->changed = false;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		taps->messages[i] = (struct message){.kind = MESSAGE_TAPS, .taps = set};
		/* At most one transaction and one set wait in a mailbox, so there is room. */
		mailbox_post(&runtime->workers[i].mailbox, &taps->messages[i]);
	}
}

/* Returns true if each worker has completed the poll that was under way at the beat, and another
 * one, and has advanced to the beat. By then, everything that happened before it has been
 * executed. */
static bool beat_is_over(const struct runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		uint64_t polls = __atomic_load_n(&runtime->workers[i].polls, __ATOMIC_ACQUIRE);

		if (polls < runtime->taps.beat_polls[i] + 2 ||
		    __atomic_load_n(&runtime->workers[i].done_ns, __ATOMIC_ACQUIRE) <
		            runtime->taps.beat_ns)
			return false;
	}
	return true;
}

void runtime_taps_beat(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;

	runtime_taps_step(runtime);
	if (taps->n == 0 || !runtime->running || !beat_is_over(runtime))
		return;
	for (uint32_t i = 0; i < taps->n; i++)
		fate_memory_settle(taps->taps[i]->memory, taps->beat_ns);
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		taps->beat_polls[i] = __atomic_load_n(&runtime->workers[i].polls, __ATOMIC_ACQUIRE);
	taps->beat_ns = clock_now(&runtime->clock);
}

void runtime_taps_free(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;

	while (taps->n > 0)
		tap_free(taps->taps[--taps->n]);
	free(taps->posted);
	free(taps->force);
	taps->posted = taps->force = NULL;
}

/* ---- one tap ---- */

int runtime_tap_begin(struct runtime *runtime, struct tap *tap, int64_t wall_ns)
{
	struct runtime_taps *taps = &runtime->taps;

	if (taps->n == TAPS_MAX)
		return -EBUSY;
	fate_memory_begin(tap->memory, runtime->scenario, wall_ns);
	taps->taps[taps->n++] = tap;
	taps->changed = true;
	runtime_taps_step(runtime);
	return 0;
}

bool runtime_tap_is_on(struct runtime *runtime, const struct tap *tap)
{
	const struct tap_set *set;

	runtime_taps_step(runtime);
	set = runtime->taps.force;
	for (uint32_t i = 0; set && i < set->n; i++) {
		if (set->taps[i] == tap)
			return true;
	}
	return false;
}

void runtime_tap_end(struct runtime *runtime, struct tap *tap)
{
	tap->ended = true;
	runtime->taps.changed = true;
	runtime_taps_step(runtime);
}
