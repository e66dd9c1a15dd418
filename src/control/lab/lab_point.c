/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/dump.h"
#include "capture/filter.h"
#include "lab/lab.h"
#include "lab/run.h"
#include "language/scenario_file.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "statements.h"
#include "text/statement_text.h"
#include "text/value.h"

#define LINKS_FIRST_PORT 0 /* the port that a capture records */

/* The state while a point is built. */
struct maker {
	const struct lab_point *point;
	const struct lab_line *line;
	struct lab_error *error;
	struct network network;
	struct plan plan;
	struct conf *groups[3 * PLAN_GROUPS_MAX]; /* owned, with their names */
	char *group_names[3 * PLAN_GROUPS_MAX];
	uint32_t n_groups;
	FILE *scenario; /* writes the clouds' statements into: */
	char *scenario_text;
	size_t scenario_bytes;
	struct words words;
};

static int fail(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct maker *maker, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(maker->error->text, sizeof(maker->error->text), format, list);
	va_end(list);
	maker->error->line = maker->line ? maker->line->number : 0;
	return -EINVAL;
}

static int make_link(struct maker *maker)
{
	const struct words *words = &maker->words;
	int ends[2], error;

	if (words->n != 6 || strcmp(words->word[2].text, "from") != 0 ||
	    strcmp(words->word[4].text, "to") != 0)
		return fail(maker, "write: link NAME from SWITCH to SWITCH");
	for (int i = 0; i < 2; i++) {
		ends[i] = network_switch(&maker->network, words->word[3 + 2 * i].text);
		if (ends[i] < 0)
			return fail(maker,
			            "switch `%.60s`: a name has 1 to 26 bytes, and there are at "
			            "most %d switches",
			            words->word[3 + 2 * i].text, NETWORK_SWITCHES_MAX);
	}
	error = network_add_link(&maker->network, words->word[1].text, (uint32_t)ends[0],
	                         (uint32_t)ends[1]);
	if (error == -EEXIST)
		return fail(maker, "there is a link `%s` already", words->word[1].text);
	if (error == -ENOSPC)
		return fail(maker, "more than %d links", NETWORK_LINKS_MAX);
	if (error)
		return fail(
		        maker,
		        "link `%.60s`: a name has 1 to 26 bytes, and its two switches must differ",
		        words->word[1].text);
	for (uint32_t i = 0; i < maker->n_groups; i++) {
		if (network_has_cloud(&maker->network, maker->group_names[i]))
			return fail(maker, "there is a group `%.60s`; give the link another name",
			            maker->group_names[i]);
	}
	return 0;
}

/* Measures begin with the name of a group or a cloud, so no two of these have one name. */
static int check_group_name(struct maker *maker, const char *name)
{
	if (strcmp(name, "all") == 0)
		return fail(maker, "`all` stands for all groups; give the group another name");
	if (network_has_cloud(&maker->network, name))
		return fail(maker, "there is a cloud `%.60s`; give the group another name", name);
	for (uint32_t i = 0; i < maker->n_groups; i++) {
		if (strcmp(maker->group_names[i], name) == 0)
			return fail(maker,
			            "there is a group `%.60s` already; give this one another name",
			            name);
	}
	return 0;
}

static int make_group(struct maker *maker, const char *kind_name)
{
	static const struct statement *const kinds[] = {&group_ftp, &group_voice, &group_web,
	                                                &group_surge};
	const struct words *words = &maker->words;
	const struct statement *kind = NULL;
	struct plan *plan = &maker->plan;
	struct language_error error;
	struct conf *conf;
	uint32_t *n;
	char *name;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind_name, kinds[i]->name) == 0)
			kind = kinds[i];
	if (!kind)
		return fail(maker, "`%.60s` is no line of a point", kind_name);
	n = kind == &group_ftp     ? &plan->n_groups
	    : kind == &group_voice ? &plan->n_voices
	                           : &plan->n_webs;
	if (words->n < 3)
		return fail(maker, "write: %s NAME COUNT from SWITCH to SWITCH ...", kind_name);
	if (*n == PLAN_GROUPS_MAX)
		return fail(maker, "more than %d groups of one kind", PLAN_GROUPS_MAX);
	if (check_group_name(maker, words->word[1].text) < 0)
		return -EINVAL;
	if (statement_parse_fields(kind, words, 2, &conf, &error) < 0)
		return fail(maker, "%s", error.text);
	maker->groups[maker->n_groups] = conf;
	name = maker->group_names[maker->n_groups++] = strdup(words->word[1].text);
	if (!name)
		return fail(maker, "no memory");
	if (kind == &group_voice)
		plan->voices[(*n)++] = (struct plan_voice){name, (const struct voice_conf *)conf};
	else if (kind == &group_ftp)
		plan->groups[(*n)++] = (struct plan_group){name, (const struct group_conf *)conf};
	else
		plan->webs[(*n)++] = (struct plan_web){name, (const struct web_conf *)conf};
	return 0;
}

static int make_line(struct maker *maker)
{
	const char *text = maker->line->text, *first;
	struct language_error error;

	if (words_split(text, &maker->words, &error) < 0)
		return fail(maker, "%s", error.text);
	first = maker->words.n ? maker->words.word[0].text : "";
	if (strcmp(first, "link") == 0)
		return make_link(maker);
	if (strcmp(first, "cloud") == 0) {
		fprintf(maker->scenario, "%s\n", text);
		return 0;
	}
	return make_group(maker, first);
}

/* Reads the value of a parameter that every experiment has. */
static int make_parameter(struct maker *maker, const struct field *field, const char *text,
                          void *value)
{
	struct language_error error;

	if (value_parse(field, text ? text : "", value, &error) < 0)
		return fail(maker, "parameter %s: %s", field->name, error.text);
	return 0;
}

static int make_parameters(struct maker *maker)
{
	static const char *const orders[] = {"departure-first", "arrival-first", NULL};
	static const struct field
	        duration = {.name = "duration", .type = FIELD_TIME, .max = DELAY_MAX_NS},
	        warmup = {.name = "warmup", .type = FIELD_TIME, .max = DELAY_MAX_NS},
	        sample = {.name = "sample", .type = FIELD_TIME, .max = DELAY_MAX_NS},
	        ties = {.name = "ties", .type = FIELD_WORD, .words = orders};
	const struct lab_point *point = maker->point;
	struct plan *plan = &maker->plan;
	uint32_t order = 0;

	if (make_parameter(maker, &duration, point->duration, &plan->duration_ns) < 0 ||
	    make_parameter(maker, &warmup, point->warmup, &plan->warmup_ns) < 0 ||
	    make_parameter(maker, &sample, point->sample, &plan->sample_ns) < 0 ||
	    make_parameter(maker, &ties, point->ties, &order) < 0)
		return -EINVAL;
	plan->arrivals_first = order == 1;
	if (plan->warmup_ns >= plan->duration_ns || plan->sample_ns == 0)
		return fail(maker,
		            "`warmup` must be shorter than `duration`, and `sample` must not be 0");
	return 0;
}

/* Reads the clouds from their text, preceded by the ports of the links. */
static int make_scenario(struct maker *maker)
{
	char *text = NULL, message[SCENARIO_FILE_ERROR];
	struct problem problem;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int error = fclose(maker->scenario);

	maker->scenario = NULL;
	if (out && error == 0) {
		network_print(&maker->network, out);
		fputs(maker->scenario_text, out);
	}
	if (!out || fclose(out) != 0 || error != 0) {
		free(text);
		return fail(maker, "no memory");
	}
	error = scenario_text_load(text, bytes, "clouds", &maker->plan.scenario, message,
	                           sizeof(message));
	if (error) {
		/* The line number belongs to a text that the user does not have: print the line
		 * instead. */
		const char *what = strchr(message, ' ');
		uint32_t number = (uint32_t)atoi(message + strlen("clouds:"));
		const char *line = text;

		while (number-- > 1 && strchr(line, '\n'))
			line = strchr(line, '\n') + 1;
		fail(maker, "`%.*s`:%s", (int)strcspn(line, "\n"), line, what ? what : message);
	}
	free(text);
	if (!error && lab_lengths_check(maker->plan.scenario, &problem) < 0) {
		scenario_free(maker->plan.scenario);
		error = fail(maker, "%s", problem.text);
	}
	return error;
}

static int make(struct maker *maker)
{
	int error = 0;

	maker->scenario = open_memstream(&maker->scenario_text, &maker->scenario_bytes);
	if (!maker->scenario)
		return fail(maker, "no memory");
	for (uint32_t i = 0; !error && i < maker->point->n_lines; i++) {
		maker->line = &maker->point->lines[i];
		error = make_line(maker);
	}
	maker->line = NULL;
	if (!error)
		error = make_parameters(maker);
	if (error)
		return error;
	network_route(&maker->network);
	maker->plan.name = "lab";
	maker->plan.network = &maker->network;
	maker->plan.seed = maker->point->seed;
	return make_scenario(maker);
}

/* ---- traces and captures ---- */

/*
 * A trace has queues and windows over the time of a run, as CSV: `t_s,what,value,average`. A
 * queue's line has the bytes that wait and the AQM's average, in bytes; a window's has packets, and
 * no average; a group's `GROUP.bytes` are the bytes given to its applications so far.
 */
static void sample(void *argument, const char *cloud, simtime now, double queue_bytes,
                   double average_bytes)
{
	fprintf(argument, "%.6f,%s.queue,%.0f,%.1f\n", (double)now / SIMTIME_S, cloud, queue_bytes,
	        average_bytes);
}

static void window(void *argument, const char *group, uint32_t flow, simtime now, double cwnd)
{
	fprintf(argument, "%.6f,%s.%u.cwnd,%.4f,\n", (double)now / SIMTIME_S, group, flow, cwnd);
}

static void goodput(void *argument, const char *group, simtime now, double bytes)
{
	fprintf(argument, "%.6f,%s.bytes,%.0f,\n", (double)now / SIMTIME_S, group, bytes);
}

static void tap_frame(void *argument, uint32_t port, const struct rte_mbuf *mbuf, simtime now)
{
	if (port == LINKS_FIRST_PORT)
		dump_write(argument, now, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len,
		           mbuf->pkt_len);
}

static struct rte_mempool *make_offline_pool(const char *name, uint32_t mbufs, uint32_t most)
{
	return offline_pool_make(name, mbufs, most, NULL);
}

static const struct platform platform = {
        .statements = statements,
        .filters = &filters,
        .pool_make = make_offline_pool,
        .pool_grow = offline_pool_grow,
        .pool_free = offline_pool_free,
        .memory_make = memory_reserve,
        .memory_free = memory_free,
};

/* Runs what make() has built; frees the scenario. */
static int run(struct maker *maker, struct results *results)
{
	const struct lab_point *point = maker->point;
	struct run_watch watch = {.sample = sample, .window = window, .goodput = goodput};
	struct problem problem = {0};
	struct dump *dump = NULL;
	FILE *trace = NULL;
	int error = 0;

	if (point->pcap) {
		error = dump_open(point->pcap, NULL, NULL, &dump, &problem);
		maker->plan.tap = tap_frame;
		maker->plan.tap_argument = dump;
	}
	if (!error && point->trace) {
		trace = fopen(point->trace, "w");
		if (trace) {
			fputs("t_s,what,value,average\n", trace);
			watch.argument = trace;
			maker->plan.watch = &watch;
		} else {
			error = -errno;
			problem_set(&problem, -1, "%s: %s", point->trace, strerror(errno));
		}
	}
	if (error)
		scenario_free(maker->plan.scenario);
	else
		error = lab_run(&maker->plan, &platform, results, &problem);
	if (!error && dump) {
		error = dump_finish(dump, &problem);
		if (!error) {
			error = dump_publish(dump, &problem);
			dump = NULL;
		}
	}
	if (dump)
		dump_discard(dump);
	bool bad = trace && ferror(trace);

	if (trace && (fclose(trace) != 0 || bad) && !error) {
		problem_set(&problem, -1, "%s could not be written", point->trace);
		error = -EIO;
	}
	if (error)
		fail(maker, "%s", problem.text);
	return error;
}

int lab_point_run(const struct lab_point *point, struct results *results, struct lab_error *error)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	int result;

	if (!maker) {
		*error = (struct lab_error){.text = "no memory"};
		return -ENOMEM;
	}
	maker->point = point;
	maker->error = error;
	result = make(maker);
	if (!result && results)
		result = run(maker, results);
	else if (!result)
		scenario_free(maker->plan.scenario);
	if (maker->scenario)
		fclose(maker->scenario);
	free(maker->scenario_text);
	for (uint32_t i = 0; i < maker->n_groups; i++) {
		conf_free(maker->groups[i]);
		free(maker->group_names[i]);
	}
	free(maker);
	return result;
}
