/* SPDX-License-Identifier: BSD-3-Clause */
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
 *
 * Thread: one.
 */
#ifndef WEIR_FATE_DIFFERENCES_H
#define WEIR_FATE_DIFFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "account/histogram.h"
#include "account/witness.h"

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

#endif
