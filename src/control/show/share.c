/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine_report.h"
#include "random/draw.h"
#include "units/human_unit.h"
#include "scenario/tallied.h"
#include "show/times.h"
#include "statements.h"
#include "account/count.h"

#define DIGITS        5
#define SPREAD_DIGITS 2

/* ---- how many came ---- */

/* Returns the place of the first statement of this name in the table; -1 for "". */
static int rank_of(const char *name)
{
	for (int i = 0; statements[i]; i++) {
		if (strcmp(statements[i]->name, name) == 0)
			return i;
	}
	return -1;
}

/* Returns true if a stage before this rank may have lacked memory, now or by a schedule. */
static bool has_stage_before(const struct cloud_conf *cloud, int rank)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct statement *statement = cloud->confs[i]->statement;

		if (statement->role == ROLE_SCHEDULE ||
		    (statement->role == ROLE_STAGE && rank_of(statement->name) < rank))
			return true;
	}
	return false;
}

bool share_offered(const struct cloud_conf *cloud, const struct cloud_report *report,
                   const struct conf *conf, uint64_t *packets)
{
	const struct counters *c = &report->counters;
	const int rank = rank_of(conf->statement->name);
	uint64_t came = counters_arrived(c) + c->joined, gone = 0;

	if (conf->statement->role == ROLE_LINE) {
		*packets = report->delay_ns.count;
		return !line_delay_of_all(cloud, report);
	}
	if (rank_of("duplicate") < rank)
		came += c->duplicated;
	for (int i = 0; i < REASON_COUNT; i++) {
		const char *stage = reason_stage((enum reason)i);

		if (stage && rank_of(stage) < rank)
			gone += c->drops[i];
	}
	if (conf->statement->role != ROLE_STAGE)
		gone += c->drops[REASON_LIMIT];
	/* The words are of slightly different moments. */
	*packets = came > gone ? came - gone : 0;
	return c->drops[REASON_NO_BUFFER] == 0 || !has_stage_before(cloud, rank);
}

/* ---- the share ---- */

/* Returns the probability with which the statement chooses each packet, whatever became of the
 * others, or a negative number. */
static double chance_of(const struct conf *conf)
{
	const struct field *field = conf->statement->fields;
	const char *variant = conf->statement->variant;
	double chance;

	/* Other fields may make choices depend on each other, as the `gap` of `reorder` does. */
	if (variant ? strcmp(variant, "random") != 0 : conf->given & ~UINT64_C(1))
		return -1;
	if (field->type != FIELD_PROBABILITY)
		return -1;
	chance = ldexp((double)*(const probability_q63 *)((const char *)conf + field->offset), -63);
	for (field++; field->name; field++) {
		if (strcmp(field->name, "correlation") == 0 &&
		    *(const probability_q63 *)((const char *)conf + field->offset) != 0)
			return -1;
	}
	return chance;
}

static double spread_of(const struct conf *conf, uint64_t came)
{
	double chance = chance_of(conf);

	if (chance < 0 || came < SHARE_LEAST)
		return -1;
	return 2 * sqrt(chance * (1 - chance) / (double)came);
}

static struct share of_tally(const struct conf *conf, const struct tally *tally)
{
	return (struct share){.acted = tally->acted,
	                      .known = true,
	                      .came = tally->came > tally->acted ? tally->came : tally->acted,
	                      .spread = spread_of(conf, tally->came)};
}

struct share share_of(const struct cloud_conf *cloud, const struct cloud_report *report,
                      const struct conf *conf)
{
	const char *counters = (const char *)&report->counters;
	int position = tallied_position(cloud, conf);
	struct share share = {.spread = -1};

	if (position >= 0 && (uint32_t)position < report->n_tallies)
		return of_tally(conf, &report->tallies[position]);
	for (uint32_t i = 0; i < STATEMENT_ACTS && conf->statement->acts[i]; i++) {
		uint64_t count;

		memcpy(&count, counters + conf->statement->acts[i], sizeof(count));
		/* Marks of the cloud may be those of its queue. */
		share.acted += i == 0 ? count : 0;
	}
	share.known = share_offered(cloud, report, conf, &share.came);
	if (share.came < share.acted)
		share.came = share.acted;
	if (share.known)
		share.spread = spread_of(conf, share.came);
	return share;
}

void share_format(char text[SHARE_SIZE], const struct share *share, const char *none,
                  const char *words)
{
	char percent[HUMAN_UNIT_SIZE], spread[HUMAN_UNIT_SIZE], acted[COUNT_SIZE];
	const char *gap = words[0] ? " " : "";
	int n;

	if (!share->known) {
		snprintf(text, SHARE_SIZE, "%s%s%s", count_of(share->acted, "packet").text, gap,
		         words);
		return;
	}
	if (share->came == 0) {
		snprintf(text, SHARE_SIZE, "%s", none);
		return;
	}
	human_unit_format(percent, sizeof(percent), HUMAN_PERCENT,
	                  (double)share->acted / (double)share->came, DIGITS);
	n = snprintf(text, SHARE_SIZE, "%s, %s of %s%s%s", percent, count_text(acted, share->acted),
	             count_of(share->came, "packet").text, gap, words);
	if (share->spread <= 0 || n < 0 || n >= SHARE_SIZE)
		return;
	human_unit_format(spread, sizeof(spread), HUMAN_PERCENT, share->spread, SPREAD_DIGITS);
	snprintf(text + n, SHARE_SIZE - (size_t)n, " (±%s expected)", spread);
}

void shares_format(const struct cloud_conf *cloud, const struct cloud_report *report,
                   const struct conf *schedule, const char *none, char *text, size_t room)
{
	struct tallied tallied[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, tallied);
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < n && i < report->n_tallies && at < room; i++) {
		const struct conf *conf = tallied[i].conf;
		struct share share = of_tally(conf, &report->tallies[i]);
		bool inner = conf != schedule;
		char one[SHARE_SIZE];

		/* A trace may have no losses. */
		if (tallied[i].within != schedule || (!inner && share.came == 0))
			continue;
		share_format(one, &share, none, "");
		at += (size_t)snprintf(text + at, room - at, "%s%s%s%s", at ? "; " : "",
		                       inner ? conf->statement->name : "", inner ? " " : "", one);
	}
}
