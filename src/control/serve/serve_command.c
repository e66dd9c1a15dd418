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
#include <stdlib.h>

#include "account/reason.h"
#include "command.h"
#include "figures/figures.h"
#include "python/python.h"
#include "show/json.h"
#include "text/value.h"

static const struct option_row rows[] = {
        {VALUE("--listen", FIELD_TEXT, .form = "WHERE",
               .help = "an address of this machine and a port, default 127.0.0.1:9470, or "
                       "unix:PATH")},
        {VALUE("--allow-changes", FIELD_FLAG,
               .help = "holders of the token may change the scenario; without this option nobody "
                       "may")},
        {VALUE("--token-file", FIELD_TEXT, .form = "FILE",
               .help = "file with the token, of 16 characters or more; if not given, one is drawn "
                       "and printed")},
        {VALUE("--name", FIELD_TEXT, .form = "NAME",
               .help = "a name by which browsers may reach it, in addition to its address and "
                       "localhost")},
        {VALUE("--clouds", FIELD_COUNT, .min = 1, .max = TOTALS_CLOUDS_MOST,
               .initial = TOTALS_CLOUDS,
               .help = "clouds with metrics of their own, the first of the scenario; the others "
                       "are summed")},
        {.letter = 'i',
         VALUE("--interval", FIELD_TIME, .min = 100 * SIMTIME_MS, .max = 60 * SIMTIME_S,
               .initial = SIMTIME_S,
               .help = "time between samples, while somebody looks at the page")},
        {OPTION_SOCKET(union option_value)},
        {OPTION_LOG_LEVEL(union option_value)},
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

const struct python_command serve_command = {
        .options = &serve_options,
        .module = "weir.serve.command",
        .unable = 1,
        .asks = asks,
};
