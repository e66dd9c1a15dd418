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
/* Adds a pair. One of the two may be NULL. */
void fate_differences_add(struct fate_differences *differences, const struct fate_seen *first,
                          const struct fate_seen *second);
/* Returns true if there is no difference. */
bool fate_differences_none(const struct fate_differences *differences);
/* Returns the number of pairs with different fates. */
uint64_t fate_differences_changed(const struct fate_differences *differences);
/* Returns the difference of delays below which `per_million` of them lie, 0 if there is none. */
int64_t fate_differences_delay(const struct fate_differences *differences, uint32_t per_million);

#endif
