/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/times.h"

#include <string.h>

#include "change/timeline_make.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/class.h"
#include "text/alloc_failure.h"
#include "text/table.h"
#include "units/human_unit.h"

bool line_delay_of_all(const struct cloud_conf *cloud, const struct cloud_report *report)
{
	return cloud->many && report->clouds_most == 0;
}

bool line_delay_is_scheduled(const struct cloud_conf *cloud)
{
	return timeline_covers(cloud, delay_statement.name);
}

bool line_delay_has_link(const struct cloud_conf *cloud)
{
	const struct class_conf *classes[CLASSES_MAX];

	return cloud_conf_get(cloud, "rate") != NULL || cloud_conf_get(cloud, "slots") != NULL ||
	       class_confs(cloud, classes) > 0;
}

const char *const times_head[TIMES_COLUMNS] = {"mean", "min", "p50", "p99", "p99.9", "max"};

struct times times_of(const struct histogram *h)
{
	return (struct times){
	        .known = h->count > 0,
	        .spread = h->count > 0,
	        .digits = histogram_digits(h),
	        .ns = {h->count > 0 ? (double)h->sum / (double)h->count : 0, (double)h->min,
	               (double)histogram_percentile(h, 500000),
	               (double)histogram_percentile(h, 990000),
	               (double)histogram_percentile(h, 999000), (double)h->max},
	};
}

void times_cell(const struct times *times, int column, enum human_unit unit,
                char text[HUMAN_UNIT_SIZE])
{
	const bool is_percentile = column >= TIMES_P50 && column <= TIMES_P999;

	if (column == TIMES_MEAN ? times->known : times->spread)
		human_unit_format(text, HUMAN_UNIT_SIZE, unit, times->ns[column],
		                  is_percentile ? times->digits : TIMES_DIGITS);
	else
		snprintf(text, HUMAN_UNIT_SIZE, "-");
}

/* Returns true if the delay changes by itself, or packets are reordered. */
static bool varies(const struct cloud_conf *cloud)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct statement *statement = cloud->confs[i]->statement;

		if (strcmp(statement->name, "reorder") == 0 ||
		    (strcmp(statement->name, "delay") == 0 && statement != &delay_statement))
			return true;
	}
	return line_delay_is_scheduled(cloud) || timeline_covers(cloud, "reorder");
}

bool line_delay_asked(const struct cloud_conf *cloud, struct delay_asked *asked)
{
	const struct conf *conf = cloud_conf_get(cloud, delay_statement.name);

	*asked = (struct delay_asked){0};
	if (conf == NULL || conf->statement != &delay_statement ||
	    delay_asked((const struct delay_conf *)conf, asked) == 0)
		return true;
	*asked = (struct delay_asked){0};
	alloc_failure_note();
	return false;
}

struct times line_delay_of(const struct cloud_conf *cloud, const struct cloud_report *report)
{
	struct times times = {.known = true, .digits = TIMES_DIGITS};
	struct delay_asked asked;

	if (!line_delay_has_link(cloud))
		return times_of(&report->delay_ns);
	if (varies(cloud) || report->delay_ns.count == 0)
		return (struct times){.known = false};
	if (report->line_packets > 0 && report->line_ns.count > 0)
		return times_of(&report->line_ns);
	times.ns[TIMES_MEAN] = report->line_mean_ns;
	if (report->line_packets > 0)
		return times;
	if (!line_delay_asked(cloud, &asked))
		return (struct times){.known = false};
	times.spread = report->order_waits == 0;
	for (int i = 0; i < TIMES_COLUMNS; i++)
		times.ns[i] = asked.mean_ns;
	return times;
}

#define DIGITS 3

void late_cells(struct table *table, const struct histogram *late)
{
	table_percentile(table, late, 500000);
	table_percentile(table, late, 990000);
	table_time(table, late->count > 0, (double)late->max);
}

bool late_warn(FILE *out, const char *before, const char *port, const struct histogram *late,
               simtime from_ns, const char *remedy)
{
	const uint64_t p99_ns = histogram_percentile(late, 990000);

	if (late->count == 0 || p99_ns <= from_ns)
		return false;
	fprintf(out,
	        "%swarning: one packet in a hundred leaves port %s %s late or more, the latest %s; "
	        "%s\n",
	        before, port, human_of(HUMAN_NS, (double)p99_ns, DIGITS).text,
	        human_of(HUMAN_NS, (double)late->max, DIGITS).text, remedy);
	return true;
}
