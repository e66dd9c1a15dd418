/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir lab`: reads the command line, and hands it over to the package weir.lab of Python. */
#include <string.h>

#include "command.h"
#include "lab/lab.h"
#include "python/python.h"
#include "text/language_error.h"
#include "text/word.h"

#define SEEDS     5
#define SEEDS_MAX 10000
#define SETS_MAX  32
#define JOBS_MAX  256

struct lab_arguments {
	uint64_t seeds, jobs, first_seed;
	const char *sets[SETS_MAX]; /* NAME=VALUE */
	uint32_t n_sets;
	const char *only; /* a case */
	const char *out, *pcap, *trace;
	bool no_figures, alone, resume, json;
};

/* Parts that an option applies to. */
enum { RUN = 1 << 0, POINTS = 1 << 1, MERGE = 1 << 2 };

static const char *const part_names[] = {"run", "points", "merge", NULL};

static int take_set(const struct field *option, char *text, void *to, struct language_error *error)
{
	struct lab_arguments *arguments = to;
	const char *value = strchr(text, '=');

	if (!value || value == text || value[1] == 0)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.60s`: write NAME=VALUE, like flows=20",
		                          option->name, text);
	if (arguments->n_sets == SETS_MAX)
		return language_error_set(error, ERROR_FULL, "%s more than %d times", option->name,
		                          SETS_MAX);
	if (!word_is_text(text))
		return language_error_set(error, ERROR_BAD_CHARACTER,
		                          "%s: the value must be UTF-8 text", option->name);
	arguments->sets[arguments->n_sets++] = text;
	return 0;
}

static const struct option_row option_rows[] = {
        {OPTION("--seeds", FIELD_COUNT, struct lab_arguments, seeds, .min = 1, .max = SEEDS_MAX,
                .initial = SEEDS, .help = "runs of each point; the results are means over them"),
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

/* Returns the part that the words name, 0 for `list`, or -1 after an error. */
static int part_of(const struct options_words *words)
{
	const char *verb = words->n > 0 ? words->word[0] : "";

	if (words->n == 1 && strcmp(verb, "list") == 0)
		return 0;
	if (words->n == 2 && strcmp(verb, "run") == 0)
		return RUN;
	if (words->n == 2 && strcmp(verb, "points") == 0)
		return POINTS;
	if (words->n > 1 && strcmp(verb, "merge") == 0)
		return MERGE;
	options_wrong(&lab_options, "write `weir lab list` or `weir lab run NAME`; "
	                            "`weir lab --help` says more");
	return -1;
}

int command_lab(int argc, char **argv)
{
	static const struct python_command command = {
	        .command = "lab",
	        .module = "weir.lab.command",
	        .needs = "",
	        .get = "apt install python3-weir, or pip install ./python in weir's sources",
	        .unable = 1,
	};
	struct lab_arguments arguments = {.seeds = 0};
	struct options_words words;
	int status, part;

	if (argc == 2 && strcmp(argv[1], "answer") == 0)
		return lab_answer(stdin, stdout);
	status = options_read(&lab_options, argc, argv, &arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (arguments.resume && !arguments.out)
		return options_wrong(&lab_options,
		                     "--continue needs --out DIR, the folder of the earlier runs");
	part = part_of(&words);
	if (part < 0)
		return OPTIONS_WRONG;
	status = options_check_parts(&lab_options, &words, (uint32_t)part);
	return status == OPTIONS_RUN ? python_become(&command, argc - 1, argv + 1) : status;
}
