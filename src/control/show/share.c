/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "notify/becn.h"
#include "random/draw.h"
#include "scenario/tallied.h"
#include "show/times.h"
#include "statements.h"

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

/* Computes how many packets came to a statement. Returns false if the counters do not determine it:
 * a packet may have found no memory before the statement or behind it; and a cloud of a template
 * does not count delays of its own. */
static bool share_offered(const struct cloud_conf *cloud, const struct cloud_report *report,
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
	/* Not its other counters: marks of the cloud may be those of its queue. */
	if (conf->statement->acts[0])
		memcpy(&share.acted, counters + conf->statement->acts[0], sizeof(share.acted));
	share.known = share_offered(cloud, report, conf, &share.came);
	if (share.came < share.acted)
		share.came = share.acted;
	if (share.known)
		share.spread = spread_of(conf, share.came);
	return share;
}

struct share_text share_text(const struct share *share, const char *none, const char *words)
{
	const char *gap = words[0] ? " " : "";
	struct share_text said = {""};
	char acted[COUNT_SIZE];

	if (!share->known)
		text_add(said.text, sizeof(said.text), "%s%s%s",
		         count_of(share->acted, "packet").text, gap, words);
	else if (share->came == 0)
		text_add(said.text, sizeof(said.text), "%s", none);
	else
		text_add(said.text, sizeof(said.text), "%s, %s of %s%s%s",
		         human_of(HUMAN_PERCENT, (double)share->acted / (double)share->came, DIGITS)
		                 .text,
		         count_text(acted, share->acted), count_of(share->came, "packet").text, gap,
		         words);
	if (share->known && share->came > 0 && share->spread > 0)
		text_add(said.text, sizeof(said.text), " (±%s expected)",
		         human_of(HUMAN_PERCENT, share->spread, SPREAD_DIGITS).text);
	return said;
}

void shares_format(const struct cloud_conf *cloud, const struct cloud_report *report,
                   const struct conf *schedule, const char *none, char *text, size_t room)
{
	struct tallied tallied[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, tallied);

	text[0] = '\0';
	for (uint32_t i = 0; i < n && i < report->n_tallies; i++) {
		const struct conf *conf = tallied[i].conf;
		struct share share = of_tally(conf, &report->tallies[i]);
		bool inner = conf != schedule;

		/* A trace may have no losses. */
		if (tallied[i].within != schedule || (!inner && share.came == 0))
			continue;
		text_add(text, room, "%s%s%s%s", text[0] ? "; " : "",
		         inner ? conf->statement->name : "", inner ? " " : "",
		         share_text(&share, none, "").text);
	}
}

/* ---- what the counters say ---- */

/* A sentence that is appended to; what does not fit is cut off. */
struct sentence {
	char *text;
	size_t room;
};
#define SAY(sentence, ...) text_add((sentence)->text, (sentence)->room, __VA_ARGS__)

static void say_count(struct sentence *sentence, uint64_t count, const char *words)
{
	char text[COUNT_SIZE];

	SAY(sentence, "%s%s %s", sentence->text[0] ? ", " : "", count_text(text, count), words);
}

/* Appends `sum` as a share of the packets that were offered. More than were offered may have been
 * dropped, if they waited when counting began. */
static void say_share(struct sentence *sentence, uint64_t sum, uint64_t offered)
{
	char text[COUNT_SIZE];

	if (offered > 0 && sum <= offered)
		SAY(sentence, ": %s of %s packets",
		    human_of(HUMAN_PERCENT, (double)sum / (double)offered, DIGITS).text,
		    count_text(text, offered));
}

static void say_counts(struct sentence *sentence, const struct cloud_conf *cloud,
                       const struct cloud_report *report, const struct conf *conf)
{
	const struct counters *c = &report->counters;
	uint64_t sum = 0, offered;

	for (uint32_t i = 0; i < STATEMENT_COUNTS; i++) {
		const struct statement_count *of = &conf->statement->counts[i];
		uint64_t count;

		if (!of->words && !of->thing)
			break;
		memcpy(&count, (const char *)c + of->counter, sizeof(count));
		sum += count;
		if (count == 0 && !of->always)
			continue;
		if (of->words)
			say_count(sentence, count, of->words);
		else
			SAY(sentence, "%s%s", sentence->text[0] ? ", " : "",
			    count_of(count, of->thing).text);
	}
	if (sentence->text[0] && is_of_queue(conf->statement) &&
	    share_offered(cloud, report, conf, &offered))
		say_share(sentence, sum, offered);
	if (conf->statement == &becn_statement && c->becn_marked > 0)
		say_count(sentence, c->becn_marked, "of them for marks");
}

/* Computes the mean time from arrival at the queue to the line: the delay less the line's. Returns
 * false if the line's is not known, because it varies or packets are reordered, or if the delay is
 * that of other clouds, too. */
static bool passage_ns(const struct cloud_conf *cloud, const struct cloud_report *report,
                       double *ns)
{
	const struct conf *conf = cloud_conf_get(cloud, "delay");
	const struct histogram *h = &report->delay_ns;
	struct delay_asked asked;
	double line_ns = report->line_mean_ns;

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->role == ROLE_SCHEDULE ||
		    strcmp(cloud->confs[i]->statement->name, "reorder") == 0)
			return false;
	}
	if (h->count == 0 || line_delay_of_all(cloud, report))
		return false;
	if (report->line_packets == 0) {
		if ((conf && conf->statement != &delay_statement) ||
		    !line_delay_asked(cloud, &asked))
			return false;
		line_ns = asked.mean_ns;
	}
	*ns = ((double)h->sum - (double)report->order_waited_ns) / (double)h->count - line_ns;
	return *ns >= 0;
}

bool is_of_queue(const struct statement *statement)
{
	return statement->role == ROLE_AQM || statement->role == ROLE_AQM_MODIFIER ||
	       statement->role == ROLE_CLASS;
}

void counts_format(const struct cloud_conf *cloud, const struct cloud_report *report,
                   enum human_unit time_unit, const struct conf *conf, char *text, size_t room)
{
	struct sentence sentence = {.text = text, .room = room};
	double ns;

	text[0] = '\0';
	if (!conf->scope[0]) {
		say_counts(&sentence, cloud, report, conf);
		if (conf->statement->role == ROLE_AQM && passage_ns(cloud, report, &ns))
			SAY(&sentence, "; %s through queue and link on average",
			    human_of(time_unit, ns, 4).text);
		return;
	}
	for (uint32_t i = 0; i < report->n_classes && is_of_queue(conf->statement); i++) {
		const struct queue_counters *c = &report->classes[i].counters;

		if (strcmp(report->classes[i].name, conf->scope) != 0)
			continue;
		say_count(&sentence, c->tx_packets, "sent");
		if (c->ecn_marked > 0)
			say_count(&sentence, c->ecn_marked, "marked");
		say_count(&sentence, c->dropped, "dropped in the class");
		say_share(&sentence, c->dropped + c->ecn_marked, c->rx_packets);
		return;
	}
}
