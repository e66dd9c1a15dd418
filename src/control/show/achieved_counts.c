/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/achieved.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine_report.h"
#include "notify/becn.h"
#include "text/alloc_failure.h"
#include "line/delay.h"
#include "units/human_unit.h"
#include "show/times.h"
#include "show/share.h"
#include "text/table.h"

#define DIGITS 5

/* A sentence that is appended to; what does not fit is cut off. */
struct sentence {
	char *text;
	size_t room, at;
};

static void say(struct sentence *sentence, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void say(struct sentence *sentence, const char *format, ...)
{
	va_list arguments;

	if (sentence->at >= sentence->room)
		return;
	va_start(arguments, format);
	sentence->at += (size_t)vsnprintf(sentence->text + sentence->at,
	                                  sentence->room - sentence->at, format, arguments);
	va_end(arguments);
}

static void say_count(struct sentence *sentence, uint64_t count, const char *words)
{
	char text[COUNT_SIZE];

	say(sentence, "%s%s %s", sentence->at ? ", " : "", count_text(text, count), words);
}

/* Appends `sum` as a share of the packets that were offered. More than were offered may have been
 * dropped, if they waited when counting began. */
static void say_share(struct sentence *sentence, uint64_t sum, uint64_t offered)
{
	char share[HUMAN_UNIT_SIZE], text[COUNT_SIZE];

	if (offered == 0 || sum > offered)
		return;
	human_unit_format(share, sizeof(share), HUMAN_PERCENT, (double)sum / (double)offered,
	                  DIGITS);
	say(sentence, ": %s of %s packets", share, count_text(text, offered));
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
			say(sentence, "%s%s", sentence->at ? ", " : "",
			    count_of(count, of->thing).text);
	}
	if (sentence->at > 0 && achieved_is_of_queue(conf->statement) &&
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
	struct delay_asked asked = {0};
	double line_ns = report->line_mean_ns;

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->role == ROLE_SCHEDULE ||
		    strcmp(cloud->confs[i]->statement->name, "reorder") == 0)
			return false;
	}
	if (h->count == 0 || line_delay_of_all(cloud, report))
		return false;
	if (report->line_packets == 0) {
		if (conf && conf->statement != &delay_statement)
			return false;
		if (conf && delay_asked((const struct delay_conf *)conf, &asked) != 0) {
			alloc_failure_note();
			return false;
		}
		line_ns = conf ? asked.mean_ns : 0;
	}
	*ns = ((double)h->sum - (double)report->order_waited_ns) / (double)h->count - line_ns;
	return *ns >= 0;
}

static const struct class_report *class_of(const struct cloud_report *report, const char *name)
{
	for (uint32_t i = 0; i < report->n_classes; i++) {
		if (strcmp(report->classes[i].name, name) == 0)
			return &report->classes[i];
	}
	return NULL;
}

bool achieved_is_of_queue(const struct statement *statement)
{
	return statement->role == ROLE_AQM || statement->role == ROLE_AQM_MODIFIER ||
	       statement->role == ROLE_CLASS;
}

void achieved_counts(const struct cloud_conf *cloud, const struct cloud_report *report,
                     enum human_unit time_unit, const struct conf *conf, char *text, size_t room)
{
	struct sentence sentence = {.text = text, .room = room};
	char time[HUMAN_UNIT_SIZE];
	double ns;

	text[0] = '\0';
	if (conf->scope[0]) {
		const struct class_report *class = class_of(report, conf->scope);

		if (class && achieved_is_of_queue(conf->statement)) {
			const struct queue_counters *c = &class->counters;

			say_count(&sentence, c->tx_packets, "sent");
			if (c->ecn_marked > 0)
				say_count(&sentence, c->ecn_marked, "marked");
			say_count(&sentence, c->dropped, "dropped in the class");
			say_share(&sentence, c->dropped + c->ecn_marked, c->rx_packets);
		}
		return;
	}
	say_counts(&sentence, cloud, report, conf);
	if (conf->statement->role == ROLE_AQM && passage_ns(cloud, report, &ns)) {
		human_unit_format(time, sizeof(time), time_unit, ns, 4);
		say(&sentence, "; %s through queue and link on average", time);
	}
}
