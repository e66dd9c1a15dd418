/* SPDX-License-Identifier: BSD-3-Clause */
/* Playing a script on an engine, in one of several ways that must not make a difference. */
#ifndef WEIR_PLAY_H
#define WEIR_PLAY_H

#include "script.h"

enum play_way {
	/* rig_ingress, in bursts of `burst`, advanced to the last packet's instant */
	PLAY_BURSTS,
	PLAY_LAZY, /* the same, and advanced only when everything is in */
	PLAY_LIVE, /* rig_receive, in bursts of one instant, advanced at random instants */
	/* as PLAY_BURSTS, but that at random instants another engine takes over, by a snapshot */
	PLAY_SNAPSHOTS,
};

/* Plays it to its end and asserts conservation at each step, and that every mbuf and all memory is
 * back. The caller frees what `departures` has got. `engine_seed`: of the engine. */
struct played {
	struct departure *departures;
	uint32_t n;
	/* that the cases are about something: of the clouds that were there at the end */
	uint64_t limited;       /* packets dropped, for the limit of a delay */
	uint64_t without_cloud; /* for want of a cloud of a template */
	uint64_t of_templates;  /* clouds of templates */
	uint64_t taken_over;    /* by another engine, and packets that were held then */
	uint64_t held;
};
/* Called with each scenario before it is put in force; NULL: not. */
extern void (*play_scenario)(const struct scenario *scenario);
struct played script_play(const struct script *script, enum play_way way, uint32_t burst,
                          uint64_t engine_seed);
void played_free(struct played *played);
/* Whether at each port the same packets left at the same instants in the same order. */
bool played_equal(const struct played *a, const struct played *b);
/* Says on stderr where they differ first. */
void played_print_difference(const struct played *a, const struct played *b);

/* How many cases to try: `normal`, or WEIR_PROPERTY_CASES in the environment. */
uint64_t property_cases(uint64_t normal);
/* The case under test, for the message when it fails. */
void property_begin(uint64_t seed);
int property_teardown(void **state);

#endif
