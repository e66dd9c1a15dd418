/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses a line as it is given to `tc qdisc ... netem`: every parameter of tc-netem(8), with tc's
 * abbreviations and tc's units (netem_value.h).
 *
 *   limit PACKETS
 *   delay|latency TIME [JITTER [CORRELATION]]    distribution NAME
 *   loss|drop [random] PERCENT [CORRELATION]     loss state P13 [P31 [P32 [P23 [P14]]]]
 *   loss gemodel P [R [1-H [1-K]]]               ecn
 *   corrupt PERCENT [CORRELATION]                duplicate PERCENT [CORRELATION]
 *   reorder PERCENT [CORRELATION]                gap DISTANCE
 *   rate RATE [PACKETOVERHEAD [CELLSIZE [CELLOVERHEAD]]]
 *   slot MIN [MAX] | slot distribution NAME DELAY JITTER, then [packets N] [bytes N]
 *   seed N
 *
 * A word may be abbreviated: as in tc, it means the first of the list `limit latency delay loss
 * drop ecn reorder corrupt gap duplicate distribution rate slot seed` that begins with it. Bare
 * numbers are microseconds, in `slot` nanoseconds; a missing value has tc's initial value. If a
 * parameter is given twice, the last one counts, except that a second `loss` is refused, as in tc.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_NETEM_H
#define WEIR_NETEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/language_error.h"
#include "text/word.h"
#include "random/draw.h"

/* A share and its correlation; column 0: not given. */
struct netem_share_of {
	uint32_t column;
	probability_q63 share, correlation;
};

enum netem_loss { NETEM_LOSS_NONE, NETEM_LOSS_RANDOM, NETEM_LOSS_STATE, NETEM_LOSS_GEMODEL };

struct netem {
	/* columns of the parameters, in characters from 1; 0: not given */
	uint32_t limit_column, delay_column, distribution_column, loss_column, ecn_column;
	uint32_t gap_column, rate_column, slot_column, seed_column;
	int64_t limit;
	uint64_t delay_ns, jitter_ns;
	probability_q63 delay_correlation;
	const char *distribution; /* points into the words that were parsed */
	enum netem_loss loss_model;
	struct netem_share_of loss;    /* NETEM_LOSS_RANDOM */
	probability_q63 transition[5]; /* STATE: p13 p31 p32 p23 p14; GEMODEL: p r 1-h 1-k */
	struct netem_share_of corrupt, duplicate, reorder;
	int64_t gap;
	uint64_t rate_bps;
	int64_t overhead, cell_bytes, cell_overhead;
	uint64_t slot_min_ns, slot_max_ns; /* or, with a distribution, mean and jitter */
	const char *slot_distribution;
	int64_t slot_packets, slot_bytes; /* 0: no limit */
	uint64_t seed;
};

/* The parameters, ended by NULL. */
extern const char *const netem_words[];

/* Prints how such a line is written. */
void netem_explain(FILE *out);

/* Parses words[at...]. Returns 0, or -EINVAL with error and column. */
int netem_parse(const struct words *words, uint32_t at, struct netem *netem,
                struct language_error *error);

#endif
