/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Python gets of a run (python/src/weir/_picture.py). It begins with a line of JSON:
 *
 *   {"subtitle", "command", "words": [HEADING, TEXT], "scenario", "first_ns", "duration_ns",
 *    "units": [TIME, DELAY, RATE, QUEUE], "clouds": N}
 *
 * A unit is the name of the one prefix of all values, or null. Each cloud is a line of JSON, and
 * numbers behind it:
 *
 *   {"name", "from", "to", "tables": [[COLUMNS, [CELL, ...]], ...], "delay_ns", "rate_bps",
 *    "limit_bytes", "has_rate", "has_link", "least_ns", "most_ns", "step_ns",
 *    "red": {"thresholds_bytes": [MIN, MAX], "average_bytes": [...],
 *            "curves": [[NAME, [...]], ...]},
 *    "tracks": [[N, STRIDE], ...]}
 *
 * with what is configured, or null, and the least and the greatest delay. The tracks are
 * throughput, delay, queue, average, and what was lost for each enum reason_kind: N instants, in ns
 * since 1970, but those of the throughput since the first packet; then N values. All are doubles.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "aqm/red.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "language/scenario_file.h"
#include "line/delay.h"
#include "link/rate.h"
#include "replay/picture.h"
#include "replay/replay_command.h"
#include "replay/replay_report.h"

#define SUBTITLE_SIZE 200
#define DATE_SIZE     64
#define DATE_FIRST    (10 * 365 * 86400) /* captures from before 1980 have no clock */

/* ---- what is configured; NAN: it is not one number ---- */

static double asked_delay_ns(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "delay");

	return conf && conf->statement == &delay_statement
	               ? (double)((const struct delay_conf *)conf)->delay_ns
	               : (double)NAN;
}

static const struct rate_conf *rate_of(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "rate");

	return conf && conf->statement == &rate_statement ? (const struct rate_conf *)conf : NULL;
}

static double asked_rate_bps(const struct cloud_conf *cloud)
{
	return rate_of(cloud) ? (double)rate_of(cloud)->rate_bps : (double)NAN;
}

static double limit_bytes(const struct cloud_conf *cloud)
{
	struct limit limit = {.unit = LIMIT_NONE};

	if (rate_of(cloud))
		limit = rate_queue(rate_of(cloud), cloud);
	return limit.unit == LIMIT_BYTES ? (double)limit.value : (double)NAN;
}

/* ---- units ---- */

/* One unit for each quantity, in every chart and table of the page (human_unit_one). */
struct units {
	enum human_unit time, delay, rate, queue;
};

/* Chooses the units by the greatest values of all clouds. */
static struct units choose_units(const struct picture_run *run, const struct replay_result *result,
                                 double duration_ns)
{
	double t[THROUGHPUT_STEPS + 2], value[THROUGHPUT_STEPS + 2], step_ns;
	double delay = 0, rate = 0, queue = 0;

	/* fmax() ignores NAN. */
	for (uint32_t i = 0; i < run->n_tracks; i++) {
		const struct cloud_conf *cloud = run->scenario->clouds[i];
		const struct track *track = &run->tracks[i];
		size_t steps =
		        throughput_points(&track->throughput, result->first_ns, t, value, &step_ns);

		delay = fmax(delay, (double)result->clouds[i].delay_ns.max);
		delay = fmax(delay, asked_delay_ns(cloud));
		rate = fmax(rate, asked_rate_bps(cloud));
		for (size_t k = 0; k < steps; k++)
			rate = fmax(rate, value[k]);
		queue = fmax(queue, limit_bytes(cloud));
		for (size_t k = 0; k < track->queue.n; k++)
			queue = fmax(queue, track->queue.value[k]);
	}
	return (struct units){
	        /* One second and more are shown in s, as on any axis. */
	        .time = duration_ns >= 1e9 ? HUMAN_NS_AS_S : human_unit_one(HUMAN_NS, duration_ns),
	        .delay = human_unit_one(HUMAN_NS, delay),
	        .rate = human_unit_one(HUMAN_BPS, rate),
	        .queue = human_unit_one(HUMAN_BYTES, queue),
	};
}

/* Returns the name of the one unit; NULL if it is the unit with all its prefixes. */
static const char *name_of(enum human_unit one, enum human_unit all)
{
	return one == all ? NULL : human_unit_prefix(one, 0, 1)->name;
}

/* ---- JSON ---- */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *numbers(const double *values, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, number(values[i]));
	return array;
}

/* Returns [COLUMNS, [CELL, ...]], and frees the table. */
static json_t *table_json(struct table *table)
{
	size_t n_columns, n_cells;
	const char *const *cells = table_cells(table, &n_columns, &n_cells);
	json_t *array = json_array();

	for (size_t i = 0; i < n_cells; i++)
		json_array_append_new(array, figures_string(cells[i] ? cells[i] : ""));
	table_free(table);
	return json_pack("[I,o]", (json_int_t)n_columns, array);
}

/* ---- RED ---- */

/* The points of RED's curve. The last CURVE_BEYOND of them are in the zone where every packet is
 * selected. They are drawn only for gentle RED, which reaches that zone gradually: with a step, the
 * curve below would be too small to be seen. */
#define CURVE_POINTS 241
#define CURVE_BEYOND 20

/* Returns a threshold in bytes, as everything that is drawn. */
static double threshold_bytes(const struct red_setup *setup, quantity_q64 threshold)
{
	double units = (double)(uint64_t)(threshold >> 32) / 0x1p32;

	return setup->bytes ? units : units * setup->mean_bytes;
}

/* Returns the second curve of the variants: drops with alpha, or ECN-mod flows. */
static double second_probability(const struct red_setup *setup, double p)
{
	if (setup->selection == RED_MAPPED)
		return p_mod_of(setup->p_mod, p);
	return p < 1 ? p * (double)setup->alpha / (double)PROBABILITY_ONE : 1;
}

static json_t *red_json(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "red");
	double average[CURVE_POINTS], p[CURVE_POINTS], second[CURVE_POINTS];
	struct red_setup setup;
	struct red_rule rule;
	json_t *curves;
	size_t n;

	if (!conf || conf->statement != &red_statement)
		return json_null();
	setup = red_conf_setup((const struct red_conf *)conf);
	red_rule_make(&rule, &setup);
	n = setup.gentle ? CURVE_POINTS : CURVE_POINTS - CURVE_BEYOND - 1;
	for (size_t i = 0; i < n; i++) {
		quantity_q64 at = rule.forced_from / (CURVE_POINTS - CURVE_BEYOND - 1) * i;

		average[i] = threshold_bytes(&setup, at);
		p[i] = (double)red_probability(&rule, at) / (double)PROBABILITY_ONE;
		second[i] = second_probability(&setup, p[i]);
	}
	curves = json_pack("[[s,o]]", setup.selection == RED_SPACED ? "marks" : "RED",
	                   numbers(p, n));
	if (setup.selection != RED_NS2)
		json_array_append_new(
		        curves, json_pack("[s,o]",
		                          setup.selection == RED_SPACED ? "drops" : "ECN-mod flows",
		                          numbers(second, n)));
	return json_pack("{s:[f,f],s:o,s:o}", "thresholds_bytes",
	                 threshold_bytes(&setup, setup.min), threshold_bytes(&setup, setup.max),
	                 "average_bytes", numbers(average, n), "curves", curves);
}

/* ---- the run ---- */

/* Writes an object as a line, and frees it. Returns 0 or -ENOMEM. */
static int write_line(FILE *out, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		return -ENOMEM;
	fprintf(out, "%s\n", text);
	free(text);
	return 0;
}

/* Formats `1 May 2025, 13:37:00 UTC. Seed 3`; without a date, if the captures have none. */
static void subtitle_make(char text[SUBTITLE_SIZE], const struct picture_run *run,
                          const struct replay_result *result)
{
	time_t at = run->of.captured ? (time_t)(result->first_ns / SIMTIME_S) : time(NULL);
	char date[DATE_SIZE] = "";
	struct tm tm;

	if (at >= DATE_FIRST && gmtime_r(&at, &tm))
		strftime(date, DATE_SIZE, "%-d %B %Y, %H:%M:%S UTC. ", &tm);
	snprintf(text, SUBTITLE_SIZE, "%sSeed %" PRIu64 "%s", date, run->scenario->seed,
	         result->n_clouds > run->n_tracks ? "; only the first clouds" : "");
}

static int write_head(FILE *out, const struct picture_run *run, const struct replay_result *result,
                      double duration_ns, const struct units *units)
{
	char *scenario = scenario_text(run->scenario), subtitle[SUBTITLE_SIZE];
	json_t *head;

	subtitle_make(subtitle, run, result);
	head = json_pack("{s:s,s:o,s:o,s:o?,s:f,s:f,s:[s?,s?,s?,s?],s:I}", "subtitle", subtitle,
	                 "command", run->of.command ? figures_string(run->of.command) : json_null(),
	                 "words", run->words ? json_incref(run->words) : json_null(), "scenario",
	                 scenario ? figures_string(scenario) : NULL, "first_ns",
	                 (double)result->first_ns, "duration_ns", duration_ns, "units",
	                 name_of(units->time, HUMAN_NS), name_of(units->delay, HUMAN_NS),
	                 name_of(units->rate, HUMAN_BPS), name_of(units->queue, HUMAN_BYTES),
	                 "clouds", (json_int_t)run->n_tracks);
	free(scenario);
	return write_line(out, head);
}

static int write_cloud(FILE *out, const struct picture_run *run, uint32_t index,
                       const struct replay_result *result, const struct units *units)
{
	const struct cloud_conf *cloud = run->scenario->clouds[index];
	const struct track *track = &run->tracks[index];
	double t[THROUGHPUT_STEPS + 2], value[THROUGHPUT_STEPS + 2], step_ns;
	const struct samples steps = {
	        .t = t,
	        .value = value,
	        .n = throughput_points(&track->throughput, result->first_ns, t, value, &step_ns)};
	const struct samples *all[] = {&steps,          &track->delay,   &track->queue,
	                               &track->average, &track->lost[0], &track->lost[1],
	                               &track->lost[2]};
	const size_t n_all = sizeof(all) / sizeof(all[0]);
	json_t *tracks = json_array();
	int rc;

	for (size_t i = 0; i < n_all; i++)
		json_array_append_new(tracks, json_pack("[I,I]", (json_int_t)all[i]->n,
		                                        (json_int_t)all[i]->stride));
	rc = write_line(
	        out,
	        json_pack(
	                "{s:o,s:o,s:o,s:[o,o],s:o,s:o,s:o,s:b,s:b,s:f,s:f,s:f,s:o,s:o}", "name",
	                figures_string(cloud->name), "from", figures_string(cloud->from), "to",
	                figures_string(cloud->to), "tables",
	                table_json(replay_table_statements(run->scenario, result, index,
	                                                   units->delay, units->rate)),
	                table_json(replay_table_times(run->scenario, result, index, units->delay)),
	                "delay_ns", number(asked_delay_ns(cloud)), "rate_bps",
	                number(asked_rate_bps(cloud)), "limit_bytes", number(limit_bytes(cloud)),
	                "has_rate", cloud_conf_get(cloud, "rate") != NULL, "has_link",
	                track->has_link, "least_ns", (double)result->clouds[index].delay_ns.min,
	                "most_ns", (double)result->clouds[index].delay_ns.max, "step_ns", step_ns,
	                "red", red_json(cloud), "tracks", tracks));
	for (size_t i = 0; rc == 0 && i < n_all; i++) {
		if (all[i]->n == 0)
			continue;
		fwrite(all[i]->t, sizeof(*all[i]->t), all[i]->n, out);
		fwrite(all[i]->value, sizeof(*all[i]->value), all[i]->n, out);
	}
	return rc;
}

int picture_run_write(const struct picture_run *run, const struct replay_result *result, FILE *out)
{
	const double duration_ns = fmax(1, (double)(result->last_ns - result->first_ns));
	const struct units units = choose_units(run, result, duration_ns);
	int rc = write_head(out, run, result, duration_ns, &units);

	for (uint32_t i = 0; rc == 0 && i < run->n_tracks; i++)
		rc = write_cloud(out, run, i, result, &units);
	return rc;
}
