/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/watch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "schedule/at.h"
#include "schedule/every.h"
#include "stream/event.h"
#include "text/statement_text.h"

#define EVERY_FIELD_FROM 2
#define AGAIN_NS         SIMTIME_S

/* A schedule: its points are first + k x period, and `on` after each of these. */
struct schedule_row {
	uint32_t cloud, conf; /* indices in the scenario */
	simtime first_ns;
	simtime every_ns; /* 0: there is only one point */
	simtime on_ns;
	simtime told_ns; /* points up to here are reported */
	simtime next_ns; /* not checked before */
	bool gone_on;    /* taken over into the rows of another scenario */
};

/* Returns the number of points up to `now`; gets the latest one, and whether a window is open
 * then. */
static uint64_t points_until(const struct schedule_row *row, simtime now, simtime *latest, bool *on)
{
	uint64_t windows;
	simtime begin;

	*on = false;
	if (now < row->first_ns)
		return 0;
	*on = true;
	*latest = row->first_ns;
	if (row->every_ns == 0)
		return 1;
	windows = (now - row->first_ns) / row->every_ns;
	begin = row->first_ns + windows * row->every_ns;
	*on = now - begin < row->on_ns;
	*latest = *on ? begin : begin + row->on_ns;
	return 2 * windows + 1 + !*on;
}

static simtime next_point(const struct schedule_row *row, simtime now)
{
	simtime begin;

	if (now < row->first_ns)
		return row->first_ns;
	if (row->every_ns == 0)
		return SIMTIME_NEVER;
	begin = now - (now - row->first_ns) % row->every_ns;
	return begin + (now - begin < row->on_ns ? row->on_ns : row->every_ns);
}

static bool row_of(const struct conf *conf, struct schedule_row *row)
{
	const struct every_conf *every = (const struct every_conf *)conf;

	if (conf->statement == &at_statement) {
		row->first_ns = ((const struct at_conf *)conf)->at_ns;
		row->every_ns = row->on_ns = 0;
	} else if (conf->statement == &every_statement || conf->statement == &flap_statement) {
		row->every_ns = every->every_ns;
		row->on_ns = every->for_ns;
		row->first_ns =
		        conf->given >> EVERY_FIELD_FROM & 1 ? every->from_ns : every->every_ns;
	} else {
		return false;
	}
	return true;
}

static uint32_t rows_fill(const struct scenario *scenario, struct schedule_row *rows, simtime told)
{
	struct schedule_row row = {.next_ns = SIMTIME_NEVER};
	uint32_t n = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		for (uint32_t k = 0; k < scenario->clouds[i]->n_confs; k++) {
			if (!row_of(scenario->clouds[i]->confs[k], &row))
				continue;
			row.cloud = i;
			row.conf = k;
			row.told_ns = told;
			row.next_ns = next_point(&row, told);
			if (rows != NULL)
				rows[n] = row;
			n++;
		}
	}
	return n;
}

static void find_next(struct schedule_watch *watch)
{
	watch->next_ns = SIMTIME_NEVER;
	for (uint32_t i = 0; i < watch->n; i++)
		watch->next_ns = simtime_min(watch->next_ns, watch->rows[i].next_ns);
}

/* Returns the first row of that cloud, or of a cloud behind it. */
static uint32_t first_row(const struct schedule_watch *watch, uint32_t cloud)
{
	uint32_t from = 0, to = watch->n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (watch->rows[middle].cloud < cloud)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Continues a schedule that was there before from the last point reported. */
static void go_on(struct schedule_watch *watch, struct schedule_row *row, uint32_t was)
{
	for (uint32_t i = first_row(watch, was); i < watch->n && watch->rows[i].cloud == was; i++) {
		struct schedule_row *before = &watch->rows[i];

		if (before->gone_on || before->first_ns != row->first_ns ||
		    before->every_ns != row->every_ns || before->on_ns != row->on_ns)
			continue;
		row->told_ns = before->told_ns;
		row->next_ns = before->next_ns;
		before->gone_on = true;
		return;
	}
}

static bool follow(struct schedule_watch *watch, const struct control *control)
{
	const struct scenario *scenario = *control->scenario;
	struct schedule_row *rows;
	uint32_t n, *was = NULL;

	if (watch->begun && watch->changes == control->changes)
		return true;
	n = rows_fill(scenario, NULL, watch->seen_ns);
	rows = calloc(n + 1, sizeof(*rows));
	if (rows == NULL || (n > 0 && roll_follow(&watch->roll, scenario, &was) != 0)) {
		free(rows);
		return false;
	}
	rows_fill(scenario, rows, watch->seen_ns);
	for (uint32_t i = 0; i < n; i++)
		if (was == NULL || was[rows[i].cloud] != ROLL_NEW)
			go_on(watch, &rows[i], was != NULL ? was[rows[i].cloud] : rows[i].cloud);
	if (n == 0)
		roll_release(&watch->roll);
	free(was);
	free(watch->rows);
	watch->rows = rows;
	watch->n = n;
	watch->at = watch->at < n ? watch->at : 0;
	watch->changes = control->changes;
	watch->begun = true;
	find_next(watch);
	return true;
}

static void tell(struct control *control, const struct schedule_row *row, simtime at_ns, bool on,
                 uint64_t points)
{
	const struct cloud_conf *cloud = (*control->scenario)->clouds[row->cloud];
	char *line = NULL, more[48] = "";
	size_t n;
	FILE *out = open_memstream(&line, &n);

	if (out != NULL) {
		statement_print(out, cloud->confs[row->conf]);
		fclose(out);
	}
	if (points > 1)
		snprintf(more, sizeof(more), ", the last of %" PRIu64 " points", points);
	event_tell(control, RUN_LOG_DEBUG, "schedule",
	           json_pack("{s:s,s:s,s:I,s:b,s:I}", "cloud", cloud->name, "line",
	                     line != NULL ? line : "", "at_ns", (json_int_t)at_ns, "on", on,
	                     "points", (json_int_t)points),
	           "cloud %s, at %" PRIu64 ".%09" PRIu64 "s%s%s: %s", cloud->name,
	           at_ns / SIMTIME_S, at_ns % SIMTIME_S,
	           row->every_ns == 0 ? ""
	           : on               ? ", begins"
	                              : ", ends",
	           more, line != NULL ? line : "");
	free(line);
}

static bool tell_row(struct control *control, struct schedule_row *row, simtime now)
{
	simtime latest = 0, before_at = 0;
	bool on, before_on;
	uint64_t before = points_until(row, row->told_ns, &before_at, &before_on);
	uint64_t points = points_until(row, now, &latest, &on) - before;

	row->told_ns = now;
	row->next_ns = next_point(row, now);
	if (points == 0)
		return false;
	if (row->next_ns != SIMTIME_NEVER)
		row->next_ns = simtime_max(row->next_ns, now + AGAIN_NS);
	tell(control, row, latest, on, points);
	return true;
}

void schedule_watch_step(struct schedule_watch *watch, struct control *control)
{
	simtime now = control->ops->now_ns(control->context);
	uint32_t told = 0;

	if (!follow(watch, control))
		return;
	watch->seen_ns = now;
	if (now < watch->next_ns)
		return;
	for (uint32_t seen = 0; seen < watch->n && told < SCHEDULE_WATCH_EVENTS; seen++) {
		struct schedule_row *row = &watch->rows[watch->at];

		watch->at = watch->at + 1 < watch->n ? watch->at + 1 : 0;
		if (row->next_ns <= now)
			told += tell_row(control, row, now);
	}
	find_next(watch);
}

void schedule_watch_release(struct schedule_watch *watch)
{
	roll_release(&watch->roll);
	free(watch->rows);
	*watch = (struct schedule_watch){.rows = NULL};
}
