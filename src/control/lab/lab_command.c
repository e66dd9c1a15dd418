/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir lab`: the papers' experiments. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "lab/lab_campaign.h"
#include "text/language_error.h"
#include "text/word.h"

#define JOBS_MAX 256

/* Parts that an option applies to. */
enum { RUN = 1 << 0, POINTS = 1 << 1, MERGE = 1 << 2 };

static const char *const part_names[] = {"run", "points", "merge", NULL};

static int take_set(const struct field *option, char *text, void *to, struct language_error *error)
{
	struct lab_arguments *arguments = to;
	char *value = strchr(text, '=');

	if (!value || value == text || value[1] == 0)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.60s`: write NAME=VALUE, like flows=20",
		                          option->name, text);
	if (arguments->n_sets == LAB_SETS_MAX)
		return language_error_set(error, ERROR_FULL, "%s more than %d times", option->name,
		                          LAB_SETS_MAX);
	if (!word_is_text(text))
		return language_error_set(error, ERROR_BAD_CHARACTER,
		                          "%s: the value must be UTF-8 text", option->name);
	*value = 0;
	arguments->sets[arguments->n_sets++] = (struct lab_override){text, value + 1};
	return 0;
}

static const struct option_row option_rows[] = {
        {OPTION("--seeds", FIELD_COUNT, struct lab_arguments, seeds, .min = 1, .max = LAB_SEEDS_MAX,
                .initial = LAB_SEEDS,
                .help = "runs of each point; the results are means over them"),
         .parts = RUN | POINTS},
        {OPTION("--seed", FIELD_COUNT, struct lab_arguments, first_seed, .max = INT64_MAX,
                .initial = 1, .help = "seed of the first run; later runs count up"),
         .parts = RUN | POINTS},
        {OPTION("--set", FIELD_TEXT, struct lab_arguments, sets, .form = "NAME=VALUE",
                .help = "another value for a parameter; 10..45, 10..45:5 or 10,20,45 sweep over "
                        "several"),
         .take = take_set, .parts = RUN | POINTS},
        {OPTION("--case", FIELD_TEXT, struct lab_arguments, only, .form = "NAME",
                .help = "only this case"),
         .parts = RUN | POINTS | MERGE},
        {OPTION("--no-figures", FIELD_FLAG, struct lab_arguments, no_figures,
                .help = "only the runs that rows need, without the sweep of the figures"),
         .parts = RUN | POINTS | MERGE},
        {OPTION("--alone", FIELD_FLAG, struct lab_arguments, alone,
                .help = "the cases as they are, without what rows and figures need besides"),
         .parts = RUN | POINTS},
        {OPTION("--jobs", FIELD_COUNT, struct lab_arguments, jobs, .min = 1, .max = JOBS_MAX,
                .help = "processes at once; if not given, as many as there are processors"),
         .parts = RUN | POINTS},
        {OPTION("--out", FIELD_TEXT, struct lab_arguments, out, .form = "DIR",
                .help = "folder for results.csv, results.json and report.html"),
         .parts = RUN | POINTS | MERGE},
        {OPTION("--continue", FIELD_FLAG, struct lab_arguments, resume,
                .help = "skips the runs that results.json there already has"),
         .parts = RUN | POINTS},
        {OPTION("--trace", FIELD_TEXT, struct lab_arguments, trace, .form = "FILE",
                .help = "queues and windows over time, as CSV (of a single run)"),
         .parts = RUN | POINTS},
        {OPTION("--pcap", FIELD_TEXT, struct lab_arguments, pcap, .form = "FILE",
                .help = "packets at the beginning of the first link (of a single run)"),
         .parts = RUN | POINTS},
        {OPTION_JSON(
                struct lab_arguments,
                "JSON; a row is {\"id\", \"experiment\", \"seeds\", \"parameters\", \"values\", "
                "\"errors\", \"paper\", \"band\", \"pass\", \"reasons\"}")},
        OPTIONS_END,
};

const struct options lab_options = {
        .command = "lab",
        .usage = "list [-j]\n"
                 "run NAME|ROW|FIGURE|FILE.lab|all [options]\n"
                 "points NAME|ROW|FIGURE|FILE.lab|all [options]\n"
                 "merge DIR... [--out DIR] [-j]",
        .does = "Runs the papers' experiments again through weir's data path, in virtual time.",
        .about = "NAME is one of `weir lab list`, ROW a row of the acceptance table like A1 (what\n"
                 "it needs is run, and no more), FIGURE one of a paper like becn-fig5, FILE.lab\n"
                 "an experiment of your own (docs/lab.md). points lists the runs as JSON, to make\n"
                 "them elsewhere, one by one. merge combines separate runs, each with its own\n"
                 "--out DIR.\n",
        .rows = option_rows,
        .parts = part_names,
};

uint64_t lab_jobs_of(long processors)
{
	if (processors < 1)
		return 1;
	return processors < JOBS_MAX ? (uint64_t)processors : JOBS_MAX;
}

/* Returns OPTIONS_RUN; otherwise everything has been printed, and the result is the exit status.
 * Splits `NAME=VALUE` in argv. */
static int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options_words words;
	int status;

	*arguments = (struct lab_arguments){.jobs = lab_jobs_of(processors)};
	status = options_read(&lab_options, argc, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	const char *verb = words.n > 0 ? words.word[0] : "";

	arguments->list = words.n == 1 && strcmp(verb, "list") == 0;
	arguments->points = words.n == 2 && strcmp(verb, "points") == 0;
	arguments->merge = words.n > 1 && strcmp(verb, "merge") == 0;
	if (arguments->points || (words.n == 2 && strcmp(verb, "run") == 0))
		arguments->what = words.word[1];
	if (arguments->merge) {
		arguments->folders = &words.word[1];
		arguments->n_folders = (uint32_t)words.n - 1;
	}
	if (arguments->resume && !arguments->out)
		return options_wrong(&lab_options,
		                     "--continue needs --out DIR, the folder of the earlier runs");
	if (!arguments->list && !arguments->what && !arguments->merge)
		return options_wrong(&lab_options, "write `weir lab list` or `weir lab run NAME`; "
		                                   "`weir lab --help` says more");
	return options_check_parts(&lab_options, &words,
	                           arguments->points  ? POINTS
	                           : arguments->what  ? RUN
	                           : arguments->merge ? MERGE
	                                              : 0);
}

static volatile sig_atomic_t stop;

struct lab {
	struct lab_arguments arguments;
	struct experiment **all;
	uint32_t n_all;
	struct experiment *own; /* from a file */
	struct campaign **campaigns;
	uint32_t n_campaigns;
	int failed; /* error of the first run that failed; `message` belongs to it */
	char message[EXPERIMENT_MESSAGE];
};

static void stop_now(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

static void progress(const char *name, uint32_t done, uint32_t n)
{
	char bar[31];
	uint32_t full = n ? done * 30 / n : 30;

	if (!isatty(STDERR_FILENO))
		return;
	memset(bar, '.', 30);
	memset(bar, '#', full);
	bar[30] = 0;
	fprintf(stderr, "\r\033[K%s [%s] %u of %u runs%s", name, bar, done, n,
	        done == n ? "\r\033[K" : "");
}

/* ---- list ---- */

/* Writes n names, `stride` bytes apart, as `A1 A2 A3`; each once, without empty ones. */
static void names_text(const char *names, uint32_t n, size_t stride, char *text, size_t room)
{
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < n && at < room; i++) {
		const char *name = names + i * stride;
		bool first = name[0] != 0;

		for (uint32_t k = 0; k < i; k++)
			first &= strcmp(names + k * stride, name) != 0;
		if (first)
			at += (size_t)snprintf(text + at, room - at, "%s%s", at ? " " : "", name);
	}
}

static int list(const struct lab *lab)
{
	json_t *array = json_array();
	char rows[256], figures[512];

	for (uint32_t i = 0; i < lab->n_all; i++) {
		const struct experiment *e = lab->all[i];

		names_text(e->rows->id, e->n_rows, sizeof(*e->rows), rows, sizeof(rows));
		names_text(e->plots->figure, e->n_plots, sizeof(*e->plots), figures,
		           sizeof(figures));
		if (lab->arguments.json) {
			json_array_append_new(array,
			                      json_pack("{s:s,s:s,s:s,s:s,s:s}", "name", e->name,
			                                "title", e->title, "paper", e->paper,
			                                "rows", rows, "figures", figures));
			continue;
		}
		printf("%-20s %s\n", e->name, e->title);
		if (e->paper[0])
			printf("%21s%s\n", "", e->paper);
		if (rows[0])
			printf("%21srows %s\n", "", rows);
		if (figures[0])
			printf("%21sfigures %s\n", "", figures);
	}
	if (lab->arguments.json) {
		json_dumpf(array, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(array);
	return 0;
}

/* ---- what to run ---- */

static int add_campaign(struct lab *lab, const struct experiment *experiment, const char *row,
                        const char *figure)
{
	int error = campaign_make(experiment, &lab->arguments, row, figure, NULL,
	                          &lab->campaigns[lab->n_campaigns], lab->message);

	lab->n_campaigns += !error;
	return error;
}

/* Returns true if the name is one of n, `stride` bytes apart. */
static bool has_name(const char *names, uint32_t n, size_t stride, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names + i * stride, name) == 0)
			return true;
	return false;
}

static int choose(struct lab *lab)
{
	const char *what = lab->arguments.what;
	const char *ending = strrchr(what, '.');
	int error = 0;
	struct nearest nearest;
	bool found = false;

	if (ending && strcmp(ending, ".lab") == 0) {
		error = lab_store_file(what, &lab->own, lab->message);
		return error ? error : add_campaign(lab, lab->own, NULL, NULL);
	}
	nearest_start(&nearest, what);
	for (uint32_t i = 0; !error && i < lab->n_all; i++) {
		const struct experiment *e = lab->all[i];

		nearest_try(&nearest, e->name);
		if (strcmp(what, "all") == 0 || strcmp(what, e->name) == 0)
			error = add_campaign(lab, e, NULL, NULL);
		else if (has_name(e->rows->id, e->n_rows, sizeof(*e->rows), what))
			error = add_campaign(lab, e, what, NULL);
		else if (has_name(e->plots->figure, e->n_plots, sizeof(*e->plots), what))
			error = add_campaign(lab, e, NULL, what);
		else
			continue;
		found = true;
	}
	if (error || found)
		return error;
	return lab_fail(lab->message, -EINVAL,
	                "there is no experiment, row, figure or file `%.60s`; %s%s%s`weir lab "
	                "list` names them",
	                what, nearest.best ? "did you mean `" : "",
	                nearest.best ? nearest.best : "", nearest.best ? "`? " : "");
}

/* Keeps the message of the first failed run; the others have been run. */
static void keep_message(struct lab *lab, const struct campaign *campaign, int error)
{
	if (lab->failed)
		return;
	lab->failed = error;
	snprintf(lab->message, sizeof(lab->message), "%s", strerror(-error));
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		if (!campaign->jobs[i].error)
			continue;
		memcpy(lab->message, campaign->jobs[i].message, sizeof(lab->message));
		return;
	}
}

/* Returns -EINTR if it was stopped, or another error if the command cannot go on. The error of a
 * run is kept, and the rest is run. */
static int run_campaign(struct lab *lab, uint32_t index)
{
	struct campaign *campaign = lab->campaigns[index];
	int error = lab_jobs_run(campaign->jobs, campaign->n_jobs, (uint32_t)lab->arguments.jobs,
	                         &stop, progress);

	if (error == -EINTR)
		return error;
	if (error)
		keep_message(lab, campaign, error);
	if (error == -EINVAL && lab->n_campaigns == 1)
		return error;
	/* If there are several campaigns, how long each took shows the progress. */
	double seconds = 0;

	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		seconds += campaign->jobs[i].seconds;
	if (lab->n_campaigns > 1) {
		uint32_t all, done = campaigns_done(&lab->campaigns[index], 1, &all);

		fprintf(stderr,
		        "%s: %u of %u runs, %.1f s of processor time; experiment %u of %u\n",
		        campaign->experiment->name, done, all, seconds, index + 1,
		        lab->n_campaigns);
	}
	/* The last one is written at the end. */
	if (!lab->arguments.out || index + 1 == lab->n_campaigns)
		return 0;
	return lab_folder_write(lab->arguments.out, lab->campaigns, lab->n_campaigns, lab->message);
}

/* ---- results ---- */

/* Returns true if every row passes. */
static bool print_results(const struct lab *lab)
{
	bool all = true;

	for (uint32_t i = 0; i < lab->n_campaigns; i++) {
		const struct campaign *campaign = lab->campaigns[i];
		json_t *object;

		all &= lab_output_text(campaign, lab->arguments.json ? NULL : stdout);
		if (!lab->arguments.json)
			continue;
		object = campaign->row ? lab_output_row(campaign, campaign->row)
		                       : lab_output_experiment(campaign);
		json_dumpf(object, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(object);
	}
	return all;
}

/* Makes the folder of --out, and reads the runs that it has. */
static int prepare_folder(struct lab *lab)
{
	const char *out = lab->arguments.out;
	uint32_t taken = 0, all;
	int error = lab_folder_check(out, lab->message);

	if (error || !lab->arguments.resume)
		return error;
	error = lab_folder_read(out, lab->campaigns, lab->n_campaigns, &taken, lab->message);
	campaigns_done(lab->campaigns, lab->n_campaigns, &all);
	if (!error)
		fprintf(stderr, "weir lab: %u of %u runs are in %s already\n", taken, all, out);
	return error;
}

/* Writes the results so far after an interruption. */
static int interrupted(struct lab *lab)
{
	const char *out = lab->arguments.out;
	uint32_t all, done = campaigns_done(lab->campaigns, lab->n_campaigns, &all);

	if (!out)
		return lab_fail(lab->message, -EINTR, "interrupted after %u of %u runs", done, all);
	if (lab_folder_write(out, lab->campaigns, lab->n_campaigns, lab->message) == 0)
		lab_fail(lab->message, 0,
		         "interrupted after %u of %u runs, which are in %.200s; --continue runs "
		         "the rest",
		         done, all, out);
	return -EINTR;
}

/* Prints what `run` would run, without figures over time, which are files of one machine:
 * [{"experiment", "case", "seed", "set": {NAME: VALUE}}, ...]. */
static int print_points(struct lab *lab)
{
	json_t *array = json_array();
	int error = 0;

	for (uint32_t i = 0; i < lab->n_campaigns; i++) {
		const struct experiment *experiment = lab->campaigns[i]->experiment;

		for (uint32_t k = 0; k < lab->campaigns[i]->n_jobs; k++) {
			const struct lab_job *job = &lab->campaigns[i]->jobs[k];
			json_t *set = json_object();

			for (uint32_t o = 0; o < job->point.n_overrides; o++)
				json_object_set_new(set, job->overrides[o].name,
				                    json_string(job->overrides[o].value));
			if (!job->trace)
				json_array_append_new(
				        array, json_pack("{s:s, s:s, s:I, s:O}", "experiment",
				                         experiment->name, "case",
				                         experiment->cases[job->point.of], "seed",
				                         (json_int_t)job->point.seed, "set", set));
			json_decref(set);
		}
	}
	if (json_dumpf(array, stdout, JSON_INDENT(1)) < 0 || putchar('\n') == EOF)
		error = lab_fail(lab->message, -EIO, "standard output: %s", strerror(errno));
	json_decref(array);
	return error;
}

/* Makes the campaigns, from what the command line names or from the runs of a merge, runs them
 * unless it is a merge, and writes the folder. */
static int campaigns(struct lab *lab)
{
	const struct lab_arguments *arguments = &lab->arguments;
	struct sigaction action = {.sa_handler = stop_now};
	int error = arguments->merge ? lab_merge(lab->all, lab->n_all, &lab->arguments,
	                                         lab->campaigns, &lab->n_campaigns, lab->message)
	                             : choose(lab);

	if (!error && arguments->points)
		return print_points(lab);
	if (!error && arguments->out)
		error = prepare_folder(lab);
	if (!error && !arguments->merge) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		for (uint32_t i = 0; !error && i < lab->n_campaigns; i++)
			error = run_campaign(lab, i);
	}
	if (error == -EINTR)
		return interrupted(lab);
	if (!error && arguments->out)
		error = lab_folder_write(arguments->out, lab->campaigns, lab->n_campaigns,
		                         lab->message);
	return error;
}

int command_lab(int argc, char **argv)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	int error, result;

	if (!lab) {
		fputs("weir lab: no memory\n", stderr);
		return 1;
	}
	result = lab_arguments_parse(argc, argv, &lab->arguments);
	if (result != OPTIONS_RUN)
		goto out;
	error = lab_store_all(&lab->all, &lab->n_all, lab->message);
	/* A campaign for each experiment that is built in, or one for a file. */
	lab->campaigns = calloc(lab->n_all + 1, sizeof(struct campaign *));
	if (!error && !lab->campaigns)
		error = lab_fail(lab->message, -ENOMEM, "no memory");
	if (!error)
		error = lab->arguments.list ? list(lab) : campaigns(lab);
	if (error || lab->failed)
		fprintf(stderr, "weir lab: %s\n", lab->message);
	if (error)
		result = error == -EINVAL ? 2 : 1;
	else
		result = lab->arguments.list || lab->arguments.points || print_results(lab) ? 0 : 1;
	if (lab->failed && result == 0)
		result = 1;
out:
	for (uint32_t i = 0; i < lab->n_campaigns; i++)
		campaign_free(lab->campaigns[i]);
	free(lab->campaigns);
	experiment_free(lab->own);
	lab_store_free(lab->all, lab->n_all);
	free(lab);
	return result;
}
