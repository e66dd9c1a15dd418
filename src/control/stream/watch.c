/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "schedule/at.h"
#include "schedule/every.h"
#include "stream/event.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"
#include "units/human_unit.h"

#define BRIEFS 64

/* Adapts to another scenario, or to cleared counters. Returns false if there is no memory; the next
 * step tries again. */
static bool follow_losses(struct loss_watch *watch, struct control *control)
{
	const struct scenario *scenario = *control->scenario;
	struct loss_watched *clouds;
	uint32_t *was;

	if (watch->begun && watch->cleared_ns != control->cleared_ns) {
		memset(watch->clouds, 0, watch->roll.n * sizeof(*watch->clouds));
		memset(watch->ports, 0, sizeof(watch->ports));
	}
	watch->cleared_ns = control->cleared_ns;
	if (watch->begun && watch->changes == control->changes)
		return true;
	clouds = calloc(scenario->n_clouds + 1, sizeof(*clouds));
	if (clouds == NULL || roll_follow(&watch->roll, scenario, &was) != 0) {
		free(clouds);
		return false;
	}
	for (uint32_t i = 0; i < scenario->n_clouds && watch->clouds != NULL; i++) {
		uint32_t at = was != NULL ? was[i] : i;

		if (at != ROLL_NEW)
			clouds[i] = watch->clouds[at];
	}
	free(was);
	free(watch->clouds);
	watch->clouds = clouds;
	watch->changes = control->changes;
	watch->begun = true;
	watch->cloud = watch->from = 0;
	watch->counters = (struct counters){0};
	return true;
}

static bool kind_told(const struct loss_watched *watched, enum reason_kind kind)
{
	for (int i = 0; i < REASON_COUNT; i++)
		if (watched->told >> i & 1 && reason_kind((enum reason)i) == kind)
			return true;
	return false;
}

static void tell_first(struct control *control, const char *cloud, enum reason reason,
                       uint64_t count, bool of_kind)
{
	event_tell(control, reason_kind(reason) == REASON_REAL ? RUN_LOG_WARNING : RUN_LOG_DEBUG,
	           "loss",
	           json_pack("{s:s,s:s,s:s,s:I,s:b}", "cloud", cloud, "reason", reason_name(reason),
	                     "kind", reason_kind_name(reason_kind(reason)), "count",
	                     (json_int_t)count, "first_of_kind", of_kind),
	           "cloud %s: the first packets lost to %s (%s): %" PRIu64 "; %s", cloud,
	           reason_name(reason), reason_kind_name(reason_kind(reason)), count,
	           reason_help(reason));
}

/* Returns true if real losses are to be reported: `since` gets their number since the last report,
 * at most once a second. They then count as reported. */
static bool real_since(struct loss_watched *watched, uint64_t real, uint64_t now_ns,
                       uint64_t *since)
{
	uint32_t second = (uint32_t)(now_ns / SIMTIME_S) + 1;

	if (real < watched->real)
		watched->real = 0; /* the cloud was made anew */
	if (real == watched->real || second == watched->second)
		return false;
	*since = real - watched->real;
	watched->real = real;
	watched->second = second;
	return true;
}

/* A cause of losses, and how many packets it took in all. */
struct cause {
	uint64_t packets;
	const char *why;
};

#define WHY_BYTES 400

/* Formats the causes that there are, with their numbers if there are several: `9: larger than the
 * MTU of its interface; 3: the link is down`. */
static void why_text(char why[WHY_BYTES], const struct cause *causes, size_t n)
{
	char digits[COUNT_SIZE];
	size_t several = 0;

	why[0] = '\0';
	for (size_t i = 0; i < n; i++)
		several += causes[i].packets > 0;
	for (size_t i = 0; i < n; i++)
		if (causes[i].packets > 0)
			text_add(why, WHY_BYTES, "%s%s%s%s", why[0] ? "; " : "",
			         several > 1 ? count_text(digits, causes[i].packets) : "",
			         several > 1 ? ": " : "", causes[i].why);
}

static void tell_real(struct control *control, const char *what, const char *name, uint64_t since,
                      uint64_t total, const char *why, json_t *lost)
{
	char digits[COUNT_SIZE];

	event_tell(control, RUN_LOG_WARNING, "real-loss",
	           json_pack("{s:s,s:I,s:I,s:o,s:s}", what, name, "count", (json_int_t)since,
	                     "total", (json_int_t)total, "lost", lost, "why", why),
	           "%s %s: weir has lost %s that the scenario did not ask for, %s in all (%s)",
	           what, name, count_of(since, "packet").text, count_text(digits, total), why);
}

static void tell_cloud(struct control *control, const char *cloud, uint64_t since, uint64_t total,
                       const uint64_t drops[REASON_COUNT])
{
	struct cause causes[REASON_COUNT];
	json_t *lost = json_object();
	char why[WHY_BYTES];
	size_t n = 0;

	for (int i = 0; i < REASON_COUNT; i++) {
		if (drops[i] == 0 || reason_kind((enum reason)i) != REASON_REAL)
			continue;
		json_object_set_new(lost, reason_name((enum reason)i),
		                    json_integer((json_int_t)drops[i]));
		causes[n++] = (struct cause){drops[i], reason_help((enum reason)i)};
	}
	why_text(why, causes, n);
	tell_real(control, "cloud", cloud, since, total, why, lost);
}

static void tell_port(struct control *control, const struct port_report *port, uint64_t since,
                      uint64_t total)
{
	const struct cause causes[] = {
	        {port->unfinished, "weir cannot complete what the kernel's offloads left undone"},
	        {port->rx_missed - port->unfinished, "its worker polled too rarely"},
	        {port->rx_no_mbuf, "the mempool was empty on arrival"},
	        {port->tx_full,
	         port->link_up ? "the device did not take them within 100 ms" : "the link is down"},
	        {port->too_large, "larger than the MTU of its interface"},
	        {port->chained, "longer than the one buffer that its driver sends"},
	        {port->not_sent - port->too_large - port->chained,
	         port->link_up ? "the device could not send them" : "the link is down"},
	        {port->not_written, "its file could not be written"},
	};
	json_t *lost = json_object();
	char why[WHY_BYTES];

	why_text(why, causes, sizeof(causes) / sizeof(causes[0]));
	figures_add(&lost, FIGURE_PORT, FIGURE_LOST, port);
	tell_real(control, "port", port->name, since, total, why, lost);
}

/* Reports the losses of a cloud, in at most `most` events, and returns their number. `all` is false
 * if there may be more. */
static uint32_t judge(struct control *control, struct loss_watched *watched, const char *cloud,
                      const struct counters *counters, uint32_t most, bool *all)
{
	const uint64_t *drops = counters->drops;
	uint64_t real = counters_drops_of(counters, REASON_REAL), since;
	bool first_real = false;
	uint32_t told = 0;

	*all = true;
	for (int i = 0; i < REASON_COUNT; i++) {
		enum reason_kind kind = reason_kind((enum reason)i);

		if (drops[i] == 0 || watched->told >> i & 1)
			continue;
		if (told == most) {
			*all = false;
			return told;
		}
		tell_first(control, cloud, (enum reason)i, drops[i], !kind_told(watched, kind));
		watched->told |= UINT32_C(1) << i;
		first_real |= kind == REASON_REAL;
		told++;
	}
	if (first_real) { /* reported just now, with its count */
		watched->real = real;
		watched->second = (uint32_t)(control_now_ns(control) / SIMTIME_S) + 1;
	}
	if (told == most) {
		*all = false;
		return told;
	}
	if (real_since(watched, real, control_now_ns(control), &since)) {
		tell_cloud(control, cloud, since, real, drops);
		told++;
	}
	return told;
}

/* Reads on in the present cloud, and returns how many clouds that took. `whole` is true at the end
 * of the cloud or template; the drops are then its total. */
static uint32_t read_on(struct loss_watch *watch, struct control *control, const char *name,
                        uint32_t most, bool *whole)
{
	struct cloud_brief briefs[BRIEFS];
	uint32_t asked = most < BRIEFS ? most : BRIEFS;
	bool many = (*control->scenario)->clouds[watch->cloud]->many;
	uint32_t n =
	        control->ops->briefs(control->context, name, watch->from, many ? asked : 1, briefs);

	for (uint32_t i = 0; i < n; i++)
		for (int reason = 0; reason < REASON_COUNT; reason++)
			watch->counters.drops[reason] += briefs[i].counters.drops[reason];
	watch->from += n;
	*whole = !many || n < asked;
	return n + 1;
}

static void watch_clouds(struct loss_watch *watch, struct control *control)
{
	const struct scenario *scenario = *control->scenario;
	uint32_t looked = 0, told = 0;

	for (uint32_t seen = 0; seen < scenario->n_clouds && looked < LOSS_WATCH_AT_ONCE;) {
		const char *name = scenario->clouds[watch->cloud]->name;
		bool whole, all;

		looked += read_on(watch, control, name, LOSS_WATCH_AT_ONCE - looked, &whole);
		if (!whole)
			continue;
		told += judge(control, &watch->clouds[watch->cloud], name, &watch->counters,
		              LOSS_WATCH_EVENTS - told, &all);
		watch->counters = (struct counters){0};
		watch->from = 0;
		if (!all) /* the next step looks at this cloud again */
			return;
		watch->cloud = (watch->cloud + 1) % scenario->n_clouds;
		seen++;
	}
}

/* Looks at one port in each step. */
static void watch_port(struct loss_watch *watch, struct control *control)
{
	uint32_t n = control->ops->ports(control->context);
	struct port_report *port = malloc(sizeof(*port));
	uint64_t lost, since;

	watch->port = watch->port + 1 < n ? watch->port + 1 : 0;
	if (port != NULL && n > 0 && control->ops->port(control->context, watch->port, port)) {
		lost = figures_lost(port);
		if (real_since(&watch->ports[watch->port], lost, control_now_ns(control), &since))
			tell_port(control, port, since, lost);
	}
	free(port);
}

void loss_watch_step(struct loss_watch *watch, struct control *control)
{
	/* If something is about to change, the next step will do. */
	if (!control_look_begin(control))
		return;
	if (follow_losses(watch, control)) {
		watch_clouds(watch, control);
		watch_port(watch, control);
	}
	control_look_end(control);
}

void loss_watch_release(struct loss_watch *watch)
{
	roll_release(&watch->roll);
	free(watch->clouds);
	memset(watch, 0, sizeof(*watch));
}

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

static bool follow_schedules(struct schedule_watch *watch, const struct control *control)
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

static void tell_point(struct control *control, const struct schedule_row *row, simtime at_ns,
                       bool on, uint64_t points)
{
	const struct cloud_conf *cloud = (*control->scenario)->clouds[row->cloud];
	char more[48] = "", *line;
	struct printed text;

	statement_print(printed_begin(&text), cloud->confs[row->conf]);
	line = printed_end(&text);
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
	tell_point(control, row, latest, on, points);
	return true;
}

void schedule_watch_step(struct schedule_watch *watch, struct control *control)
{
	simtime now = control_now_ns(control);
	uint32_t told = 0;

	if (!follow_schedules(watch, control))
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
