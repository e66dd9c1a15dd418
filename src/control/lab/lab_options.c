/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

#include <string.h>
#include <unistd.h>

#include "command.h"
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

static const struct option_row rows[] = {
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
        .rows = rows,
        .parts = part_names,
};

uint64_t lab_jobs_of(long processors)
{
	if (processors < 1)
		return 1;
	return processors < JOBS_MAX ? (uint64_t)processors : JOBS_MAX;
}

int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments)
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
