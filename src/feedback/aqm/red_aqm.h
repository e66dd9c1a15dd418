/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED as the management of a link's queue: connects red.h, which decides, to the contract of aqm.h.
 *
 * With `ecn on`, packets that are capable are marked where they would have been dropped; the others
 * are dropped with the reason red-early or red-forced. Without `ecn on`, all are dropped.
 *
 * A change keeps the average and the counts, whatever changes. The sequence of draws continues: the
 * ordinal of a packet among the arrivals determines its draw, whether the draw is used or not.
 *
 * Figures: the average in bytes (in unit packet: times the mean size), the probability before
 * spacing at the last arrival (with alpha also that of drops, with ecn-mod also p_mod), and max-p.
 * Marks and drops are in the cloud's counters.
 */
#ifndef WEIR_RED_AQM_H
#define WEIR_RED_AQM_H

#include "aqm/red.h"
#include "match/match.h"
#include "random/draw.h"
#include "scenario/statement.h"

/*
 * `red min T max T [max-p P] [weight W] [unit byte|packet] [mean S] [gentle on|off] [wait on|off]
 *      [spacing on|off] [adaptive on|off] [mark-to T] [alpha A] [marking red|ecn-mod] [c1 C] [c2 C]
 *        [match WORDS]`:
 * the fields of RED, their checks, and their conversion for red.h, which has the model.
 *
 * Thresholds are bytes or packets. `unit` says what the queue is counted in; by default it is that
 * of `min`. A threshold in the other unit is converted with `mean`, as in ns-2. Times are refused:
 * they would change with the rate.
 *
 *   min, max  1 to 2^40; max at least min, and if larger, by at least a packet or byte
 *   max-p     above 0, at most 1; 0.1 by default (ns-2's linterm_ 10)
 *   weight    above 0, at most 1; 0.002
 *   mean      1 B to 256 KiB; 1000 B
 *   gentle    off (with ecn-mod on), wait on, adaptive off: as in the papers; spacing on. `spacing
 *             off` excludes wait and alpha
 *   mark-to   the average below which packets are marked; by default where forcing begins, or with
 *             alpha no limit
 *   alpha     above 0, at most 1: BCN-TCP's switch
 *   c1, c2    above 0, at most 1: ECN-mod's router; 0.0625 and 0.125
 *   match     exact conditions (match.h). With alpha: other packets that can be marked are dropped
 *             like those that cannot. With ecn-mod: the flows to which p_mod applies. By default,
 *             all packets that can be marked
 */

#define RED_MEAN_MAX UINT64_C(262144)

enum red_unit { RED_BYTE, RED_PACKET };
enum red_marking { RED_MARKING_RED, RED_MARKING_ECN_MOD };

struct red_conf {
	struct conf conf;
	struct limit min, max, mark_to;
	probability_q63 max_p, weight, alpha;
	uint64_t mean_bytes;
	uint32_t unit;    /* enum red_unit */
	uint32_t marking; /* enum red_marking */
	bool gentle, wait, spacing, adaptive;
	struct ratio c1, c2;
	char *match; /* or NULL */
};

extern const struct field red_fields[];

/* Checks the statement, without the statements that it needs beside it. Returns 0, or -EINVAL with
 * problem. */
int red_conf_check(const struct red_conf *conf, struct problem *problem);

/* Returns a limit in bytes or packets, in the unit of the queue. The configuration has been
 * checked. */
quantity_q64 red_conf_threshold(const struct red_conf *conf, const struct limit *limit);
struct red_setup red_conf_setup(const struct red_conf *conf);

extern const struct statement red_statement;

#endif
