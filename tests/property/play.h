/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a script on an engine, in one of several ways that must not make a difference. */
#ifndef WEIR_PLAY_H
#define WEIR_PLAY_H

#include "script.h"

enum play_way {
	/* rig_ingress, in bursts of `burst`, advanced to the last packet's instant */
	PLAY_BURSTS,
	/* the same, but advanced only when all packets are in; with clouds on demand */
	PLAY_LAZY,
	PLAY_LIVE, /* rig_receive, in bursts of one instant, advanced at random instants */
	/* as PLAY_BURSTS, but at random instants another engine takes over, by a snapshot; each
	 * other one of them has clouds on demand */
	PLAY_SNAPSHOTS,
};

/* The result of playing a script to its end, during which each step asserts conservation, and the
 * end that every mbuf and all memory is back. The caller frees it by played_free. */
struct played {
	struct departure *departures;
	uint32_t n;
	/* sums that show that the cases test something; of the clouds that existed at the end */
	uint64_t limited;       /* packets dropped because of the limit of a delay */
	uint64_t without_cloud; /* packets dropped because a template had no cloud left */
	uint64_t of_templates;  /* clouds of templates */
	uint64_t taken_over;    /* how often another engine took over; `held`: packets held then */
	uint64_t held;
};
/* Called with each scenario before it is put in force; or NULL. */
extern void (*play_scenario)(const struct scenario *scenario);
struct played script_play(const struct script *script, enum play_way way, uint32_t burst,
                          uint64_t engine_seed);
void played_free(struct played *played);
/* Returns true if at each port the same packets left at the same instants in the same order. */
bool played_equal(const struct played *a, const struct played *b);
/* Prints on stderr where they first differ. */
void played_print_difference(const struct played *a, const struct played *b);

/* Returns how many cases to try: WEIR_PROPERTY_CASES in the environment, else `normal`. */
uint64_t property_cases(uint64_t normal);
/* Names the case under test for the message in case it fails. */
void property_begin(uint64_t seed);
int property_teardown(void **state);

#endif
