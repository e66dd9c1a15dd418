/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir diff`: two runs side by side, and how their fates differ.
 */
#ifndef WEIR_DIFF_H
#define WEIR_DIFF_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "account/histogram.h"
#include "account/witness.h"
#include "record/recording_folder.h"

/*
 * The differences between the fates of two runs: pairs of fates, summed.
 *
 * A pair has the fates of one packet in both runs, in the order of its clouds; copies are paired
 * with copies. If one run has no partner for a fate, the packet did not reach that cloud there, or
 * was not decided: it waits in a queue at the end.
 *
 * The delay of a packet is the time from its arrival at the cloud until it leaves it. A difference
 * of delays is positive if the second run took longer. The histograms are the usual ones
 * (histogram.h): least and greatest are exact.
 */

/* The fate of a packet: one of enum reason, or one of these. */
#define BECAME_DELIVERED REASON_COUNT
#define BECAME_NOTHING   (REASON_COUNT + 1)
#define BECAME_KINDS     (REASON_COUNT + 2)

#define FATE_EXAMPLES 3u

struct fate_seen {
	uint64_t packet; /* its ordinal at its port */
	simtime t_in_ns; /* its arrival at the cloud */
	uint64_t delay_ns;
	uint32_t port, wire_bytes;
	uint32_t became;
	bool copy;
};

struct fate_example {
	uint64_t packet;
	simtime t_ns;
	uint32_t port;
};

/* Pairs with one fate in the first run, and another one in the second. */
struct fate_change {
	uint64_t packets;
	struct fate_example few[FATE_EXAMPLES]; /* the earliest */
};

struct fate_first {
	bool found;
	struct fate_example at;
	uint32_t from, to;
	int64_t later_ns; /* both are delivered: the difference */
};

struct fate_differences {
	uint64_t pairs;
	uint64_t other_length; /* pairs of packets of different lengths */
	struct fate_change changes[BECAME_KINDS][BECAME_KINDS];
	/* of the packets delivered in both */
	uint64_t equal;
	struct histogram later, earlier;
	struct fate_first first;
	/* Fates of weir's own packets, which have no number. */
	uint64_t own[2][BECAME_KINDS];
};

/* Returns the name of a reason (reason.h), `delivered`, or `not decided`. */
const char *became_name(uint32_t became);
/* Returns true if there is no difference. */
bool fate_differences_none(const struct fate_differences *differences);
/* Returns the number of pairs with different fates. */
uint64_t fate_differences_changed(const struct fate_differences *differences);
/* Returns the difference of delays below which `per_million` of them lie, 0 if there is none. */
int64_t fate_differences_delay(const struct fate_differences *differences, uint32_t per_million);

/*
 * Pairs the fates of a packet in two runs that go side by side, in whatever order the runs decide.
 *
 * A fate waits until its partner comes. At most `room` fates wait: if another one comes, the one
 * that has waited longest is added without a partner. So memory is bounded, however long the runs
 * are.
 *
 * Ownership: fate_pairs_free frees it.
 * Thread: one.
 */

#define FATE_PAIRS_ROOM (1u << 20)

struct fate_pairs;

/* `room` is a power of two. `differences` must outlive the pairs. Returns NULL if there is no
 * memory. */
struct fate_pairs *fate_pairs_make(uint32_t room, struct fate_differences *differences);
/* Takes a fate of the first run (0) or the second (1). */
void fate_pairs_put(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *seen);
/* Ends both runs: fates that still wait have no partner. Returns how many had to be given up
 * before. */
uint64_t fate_pairs_end(struct fate_pairs *pairs);
void fate_pairs_free(struct fate_pairs *pairs); /* NULL is allowed */

/*
 * Runs two recordings (record/rerun.h), or a recording and a changed run of it, side by side. They
 * go in step, packet by packet, so that few fates wait for their partner, however long the runs
 * are.
 */

#define DIFF_SETS_MAX 32u

struct diff_plan {
	const char *folder, *config; /* config: or NULL */
	const char *set[DIFF_SETS_MAX];
	uint32_t n_set;
	uint64_t seed, until_ns; /* until_ns 0: up to the end */
	bool seed_given, ideal;
};

/* One of the two runs. */
struct diff_side {
	struct recording_folder *folder;
	struct scenario *scenario;
	struct rerun_result result;
	bool otherwise; /* not as it was recorded */
};

struct diff_outcome {
	struct diff_side sides[2];
	struct fate_differences differences;
	uint64_t gone; /* fates that waited too long for their partner */
};

/* Compares the runs of both plans. `outcome` is all zero before; diff_outcome_release frees it in
 * any case. Returns 0; -EINVAL with problem if a recording or a scenario is wrong; -EILSEQ with
 * problem if a rerun differs from what was recorded; another -errno with problem. */
int diff_run(const struct diff_plan plans[2], struct diff_outcome *outcome,
             struct problem *problem);
void diff_outcome_release(struct diff_outcome *outcome);

#endif
