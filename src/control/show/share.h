/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On how many of its packets a statement has acted, and how far chance alone would move that share
 * from the probability that is configured.
 *
 * A statement's own figures are its tally (account/tally.h). One cloud of a template has none:
 * there the counters of the cloud take its place, and how many came follows from them and from the
 * order in which a packet passes the statements (statements.h):
 *
 *   a stage           what came in, less what was dropped before the stage, and with the copies and
 *                     fragments that were made before it
 *   a management      the same behind all stages, less what `delay ... limit` dropped
 *   of the line       the packets whose delays were counted
 *
 * Packets that were held when the counters were cleared count as received again, but do not pass
 * the stages again.
 *
 * Expected spread: n independent draws of probability p give a share within p +- 2 sqrt(p (1 - p) /
 * n) in 19 of 20 runs. It is given for statements that draw so, and from SHARE_LEAST packets on;
 * with fewer, a share says nothing.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SHARE_H
#define WEIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"
#include "units/human_unit.h"

struct cloud_report;

#define SHARE_LEAST 30

struct share {
	uint64_t acted;
	bool known; /* `came` is */
	uint64_t came;
	double spread; /* as a fraction; < 0: there is none */
};

/* `conf` is a statement of the cloud that acts (statement.h). */
struct share share_of(const struct cloud_conf *cloud, const struct cloud_report *report,
                      const struct conf *conf);
/* Formats `0.1%, 12 of 12,000 packets (±0.06% expected)`, with `words` behind `packets`; or `none`
 * if no packet came. */
struct share_text {
	char text[160];
};
struct share_text share_text(const struct share *share, const char *none, const char *words);
/* Formats what the statements inside a schedule of the cloud have done while they were in force, or
 * the schedule itself if it acts; "" if the cloud has no tallies. */
void shares_format(const struct cloud_conf *cloud, const struct cloud_report *report,
                   const struct conf *schedule, const char *none, char *text, size_t room);

/* Formats what the counters say of a statement: of the management of a queue, of what modifies one
 * (`ecn`, `becn`) and of a class also their share of the packets that came to it, and how long
 * packets took through queue and link. If `conf` belongs to a class, of that class. Of a statement
 * without counters, `text` becomes "". `time_unit`: HUMAN_NS, or one unit for all times. */
void counts_format(const struct cloud_conf *cloud, const struct cloud_report *report,
                   enum human_unit time_unit, const struct conf *conf, char *text, size_t room);
/* Returns true if the statement is one of these that belong to a queue. */
bool is_of_queue(const struct statement *statement);

#endif
