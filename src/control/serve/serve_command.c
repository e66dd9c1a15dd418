/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir serve`: its command line, and what only this program knows. The rest is the package
 * python/src/weir/serve: metrics, events and a page over HTTP, as a client of weir's socket.
 *
 * `weir serve --answer` answers the package (python/python.h). Its questions:
 *
 *   {"ask": "metrics"}        {"figures": {SCOPE: [{"name", "object", "metric", "unit", "kind",
 *                             "drops", "some", "loss", "help"}, ...]}, "reasons": {NAME: KIND}}:
 *                             the figures that are metrics (figures/figures.h). `some`: an element
 *                             may lack it; `drops`: counts by reason
 *   {"ask": "lease", "text"}  {"ns"}: of a time that a lease may have
 *
 * A question may be answered by {"error": TEXT}: of what was asked for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/reason.h"
#include "command.h"
#include "figures/figures.h"
#include "options/options.h"
#include "python/python.h"
#include "show/json.h"
#include "text/value.h"

struct serve {
	const char *socket, *listen, *name, *token_file;
	bool allow_changes;
	uint64_t interval_ns, clouds;
	uint32_t log_level;
};

static const struct option_row rows[] = {
        {OPTION("--listen", FIELD_TEXT, struct serve, listen, .form = "WHERE",
                .help = "an address of this machine and a port, default 127.0.0.1:9470, or "
                        "unix:PATH")},
        {OPTION("--allow-changes", FIELD_FLAG, struct serve, allow_changes,
                .help = "holders of the token may change the scenario; without this option nobody "
                        "may")},
        {OPTION("--token-file", FIELD_TEXT, struct serve, token_file, .form = "FILE",
                .help = "file with the token, of 16 characters or more; if not given, one is drawn "
                        "and printed")},
        {OPTION("--name", FIELD_TEXT, struct serve, name, .form = "NAME",
                .help = "a name by which browsers may reach it, in addition to its address and "
                        "localhost")},
        {OPTION("--clouds", FIELD_COUNT, struct serve, clouds, .min = 1, .max = TOTALS_CLOUDS_MOST,
                .initial = TOTALS_CLOUDS,
                .help = "clouds with metrics of their own, the first of the scenario; the others "
                        "are summed")},
        {.letter = 'i',
         OPTION("--interval", FIELD_TIME, struct serve, interval_ns, .min = 100 * SIMTIME_MS,
                .max = 60 * SIMTIME_S, .initial = SIMTIME_S,
                .help = "time between samples, while somebody looks at the page")},
        {OPTION_SOCKET(struct serve)},
        {OPTION_LOG_LEVEL(struct serve)},
        OPTIONS_END,
};

const struct options serve_options = {
        .command = "serve",
        .usage = "[-s SOCKET] [--listen ADDRESS:PORT|unix:PATH] [--allow-changes]",
        .does = "Serves metrics, events and a live page of a running weir, over HTTP.",
        .about = "Runs as a process of its own. Any socket of weir suffices, also the\n"
                 "read-only one; changes need the control socket.\n",
        .end = "Exit status: 0 ended, 1 it cannot serve here, 2 the options are wrong.\n",
        .rows = rows,
};

/* ---- answers ---- */

static json_t *figures_of(enum figure_scope scope)
{
	json_t *array = json_array();

	for (const struct figure *f = NULL; (f = figure_next(scope, 0, NULL, f));)
		if (f->metric)
			json_array_append_new(
			        array, json_pack("{s:s, s:s?, s:s, s:s, s:s, s:b, s:b, s:s?, s:s}",
			                         "name", f->name, "object", f->object, "metric",
			                         f->metric, "unit", figure_unit_names[f->unit],
			                         "kind", figure_kind_names[f->kind], "drops",
			                         f->type == FIGURE_DROPS, "some", f->there != NULL,
			                         "loss", f->loss, "help", f->help));
	return array;
}

static json_t *answer_metrics(const json_t *question)
{
	json_t *figures = json_object(), *reasons = json_object();

	(void)question;
	for (int scope = 0; scope < FIGURE_SCOPES; scope++)
		json_object_set_new(figures, figure_scope_names[scope],
		                    figures_of((enum figure_scope)scope));
	for (int i = 0; i < REASON_COUNT; i++)
		json_object_set_new(reasons, reason_name((enum reason)i),
		                    json_string(reason_kind_name(reason_kind((enum reason)i))));
	return json_pack("{s:o, s:o}", "figures", figures, "reasons", reasons);
}

static json_t *answer_lease(const json_t *question)
{
	const struct field field = {.name = "lease",
	                            .type = FIELD_TIME,
	                            .min = 100 * SIMTIME_MS,
	                            .max = 86400 * SIMTIME_S};
	const char *text = json_string_value(json_object_get(question, "text"));
	struct language_error wrong;
	simtime lease_ns;

	if (value_parse(&field, text ? text : "", &lease_ns, &wrong) != 0)
		return json_pack("{s:s}", "error", wrong.text);
	return json_pack("{s:I}", "ns", (json_int_t)lease_ns);
}

static const struct python_ask asks[] = {
        {"metrics", answer_metrics},
        {"lease", answer_lease},
        {NULL, NULL},
};

int command_serve(int argc, char **argv)
{
	static const struct python_command command = {
	        .command = "serve",
	        .module = "weir.serve.command",
	        .needs = "",
	        .get = "apt install python3-weir, or pip install ./python in weir's sources",
	        .unable = 1,
	};
	struct serve serve = {.listen = "127.0.0.1:9470"};
	char interval[24], clouds[24];
	struct options_words words;
	int status;

	if (argc == 2 && strcmp(argv[1], "--answer") == 0)
		return python_answer(asks, stdin, stdout);
	status = options_read(&serve_options, argc, argv, &serve, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (words.n > 0)
		return options_wrong(&serve_options, "`%s` is not expected; write --listen %s",
		                     words.word[0], words.word[0]);
	if (serve.token_file && !serve.allow_changes)
		return options_wrong(&serve_options, "--token-file needs --allow-changes");
	snprintf(interval, sizeof(interval), "%" PRIu64, serve.interval_ns);
	snprintf(clouds, sizeof(clouds), "%" PRIu64, serve.clouds);
	return python_become_with(&command, (const struct python_value[]){
	                                            {"socket", serve.socket},
	                                            {"listen", serve.listen},
	                                            {"name", serve.name},
	                                            {"token_file", serve.token_file},
	                                            {"changes", serve.allow_changes ? "1" : NULL},
	                                            {"interval_ns", interval},
	                                            {"clouds", clouds},
	                                            {"log_level", run_log_levels[serve.log_level]},
	                                            {NULL, NULL}});
}
