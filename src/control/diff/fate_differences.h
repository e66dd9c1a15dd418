/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fates of two runs have not in common: pairs of them, summed.
 *
 * A pair is what became of one packet here and there, in the order of its clouds; copies are paired
 * with copies. Where one run has no partner for a fate, that packet had not come there, or was not
 * decided: it waits in a queue at the end.
 *
 * The delay of a packet is from its coming to the cloud until it leaves it. A difference of delays
 * has a sign: above zero the second run took longer. Its histograms are those of all others
 * (histogram.h): right to 1.6 %, least and greatest exactly.
 *
 * Thread: one.
 */
#ifndef WEIR_FATE_DIFFERENCES_H
#define WEIR_FATE_DIFFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "account/histogram.h"
#include "account/witness.h"

/* What became of a packet: one of enum reason, or one of these. */
#define BECAME_DELIVERED REASON_COUNT
#define BECAME_NOTHING   (REASON_COUNT + 1)
#define BECAME_KINDS     (REASON_COUNT + 2)

#define FATE_EXAMPLES 3u

struct fate_seen {
	uint64_t packet; /* its number at its port */
	simtime t_in_ns; /* when it came to the cloud */
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

/* Pairs that became one thing in the first run, and another one in the second. */
struct fate_change {
	uint64_t packets;
	struct fate_example few[FATE_EXAMPLES]; /* the earliest */
};

struct fate_first {
	bool found;
	struct fate_example at;
	uint32_t from, to;
	int64_t later_ns; /* both are delivered: by how much */
};

struct fate_differences {
	uint64_t pairs;
	uint64_t other_length; /* pairs of packets that are not of the same length */
	struct fate_change changes[BECAME_KINDS][BECAME_KINDS];
	/* of those that are delivered in both */
	uint64_t equal;
	struct histogram later, earlier;
	struct fate_first first;
	/* Fates of packets of weir's own, which have no number. */
	uint64_t own[2][BECAME_KINDS];
};

/* `reason` of reason.h in words, `delivered`, or `not decided`. */
const char *became_name(uint32_t became);
/* One of them, not both, may be NULL. */
void fate_differences_add(struct fate_differences *differences, const struct fate_seen *first,
                          const struct fate_seen *second);
/* True: there is none. */
bool fate_differences_none(const struct fate_differences *differences);
/* How many pairs became different things. */
uint64_t fate_differences_changed(const struct fate_differences *differences);
/* The difference of delays below which `per_million` of them lie; 0 when there is none. */
int64_t fate_differences_delay(const struct fate_differences *differences, uint32_t per_million);

#endif
