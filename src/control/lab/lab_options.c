/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MAX 256

static const char usage[] =
        "usage: weir lab list [-j]\n"
        "       weir lab run NAME|ROW|FIGURE|FILE.lab|all [options]\n"
        "       weir lab merge DIR... [--out DIR] [-j]\n"
        "\n"
        "The papers' experiments, run again through weir's own data path in virtual time.\n"
        "NAME is one of `weir lab list`, ROW a row of the acceptance table like A1 (what it needs\n"
        "is run, and no more), FIGURE one of a paper like becn-fig5, FILE.lab an experiment of "
        "your\n"
        "own (docs/lab.md). merge puts together what was run apart, each with its --out DIR.\n"
        "\n"
        "      --seeds N         runs of each point, their means count (5)\n"
        "      --seed N          of the first; the others follow (1)\n"
        "      --set NAME=VALUE  another value for a parameter; 10..45, 10..45:5 or 10,20,45 are "
        "a\n"
        "                        sweep over it\n"
        "      --case NAME       only this case\n"
        "      --no-figures      only what rows need, without the sweep of the figures\n"
        "      --jobs N          processes at once (as many as there are processors)\n"
        "      --out DIR         results.csv, results.json and report.html there\n"
        "      --continue        what results.json there has is not run again\n"
        "      --trace FILE      queues and windows over time, as CSV (of a single run)\n"
        "      --pcap FILE       what passes the beginning of the first link (of a single run)\n"
        "  -j, --json            JSON: of a row "
        "{\"id\",\"parameters\",\"values\",\"paper\",\"band\","
        "\"pass\"}\n"
        "  -h, --help\n";

enum {
	OPTION_SEEDS = 256,
	OPTION_SEED,
	OPTION_SET,
	OPTION_CASE,
	OPTION_NO_FIGURES,
	OPTION_JOBS,
	OPTION_OUT,
	OPTION_CONTINUE,
	OPTION_TRACE,
	OPTION_PCAP,
};

static const struct option options[] = {
        {"seeds", required_argument, NULL, OPTION_SEEDS},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"set", required_argument, NULL, OPTION_SET},
        {"case", required_argument, NULL, OPTION_CASE},
        {"no-figures", no_argument, NULL, OPTION_NO_FIGURES},
        {"jobs", required_argument, NULL, OPTION_JOBS},
        {"out", required_argument, NULL, OPTION_OUT},
        {"continue", no_argument, NULL, OPTION_CONTINUE},
        {"trace", required_argument, NULL, OPTION_TRACE},
        {"pcap", required_argument, NULL, OPTION_PCAP},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static bool take_whole(const char *name, const char *text, uint64_t min, uint64_t max,
                       uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno == 0 && end != text && *end == 0 && text[0] != '-' && *value >= min &&
	    *value <= max)
		return true;
	fprintf(stderr, "weir lab: --%s `%.40s`: a whole number from %llu to %llu\n", name, text,
	        (unsigned long long)min, (unsigned long long)max);
	return false;
}

static bool take_set(struct lab_arguments *arguments, char *text)
{
	char *value = strchr(text, '=');

	if (!value || value == text || value[1] == 0) {
		fprintf(stderr, "weir lab: --set `%.60s`: write NAME=VALUE, like flows=20\n", text);
		return false;
	}
	if (arguments->n_sets == LAB_SETS_MAX) {
		fprintf(stderr, "weir lab: --set more than %d times\n", LAB_SETS_MAX);
		return false;
	}
	*value = 0;
	arguments->sets[arguments->n_sets++] = (struct lab_override){text, value + 1};
	return true;
}

static bool take_option(struct lab_arguments *arguments, int option)
{
	uint64_t number = 0;

	switch (option) {
	case OPTION_SEEDS:
		if (!take_whole("seeds", optarg, 1, LAB_SEEDS_MAX, &number))
			return false;
		arguments->seeds = (uint32_t)number;
		return true;
	case OPTION_SEED:
		return take_whole("seed", optarg, 0, INT64_MAX, &arguments->first_seed);
	case OPTION_JOBS:
		if (!take_whole("jobs", optarg, 1, JOBS_MAX, &number))
			return false;
		arguments->jobs = (uint32_t)number;
		return true;
	case OPTION_SET:
		return take_set(arguments, optarg);
	case OPTION_CASE:
		arguments->only = optarg;
		return true;
	case OPTION_NO_FIGURES:
		arguments->figures = false;
		return true;
	case OPTION_OUT:
		arguments->out = optarg;
		return true;
	case OPTION_CONTINUE:
		arguments->go_on = true;
		return true;
	case OPTION_TRACE:
		arguments->trace = optarg;
		return true;
	case OPTION_PCAP:
		arguments->pcap = optarg;
		return true;
	case 'j':
		arguments->json = true;
		return true;
	default:
		fputs("weir lab: `weir lab --help` lists the options\n", stderr);
		return false;
	}
}

int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int option;

	*arguments = (struct lab_arguments){
	        .seeds = LAB_SEEDS,
	        .first_seed = 1,
	        .jobs = processors > 0 && processors < JOBS_MAX ? (uint32_t)processors : 1,
	        .figures = true,
	};
	while ((option = getopt_long(argc, argv, "jh", options, NULL)) >= 0) {
		if (option == 'h') {
			fputs(usage, stdout);
			return LAB_ARGUMENTS_HELP;
		}
		if (!take_option(arguments, option))
			return LAB_ARGUMENTS_WRONG;
	}
	arguments->list = optind + 1 == argc && strcmp(argv[optind], "list") == 0;
	if (optind + 2 == argc && strcmp(argv[optind], "run") == 0)
		arguments->what = argv[optind + 1];
	if (optind + 1 < argc && strcmp(argv[optind], "merge") == 0) {
		arguments->merge = true;
		arguments->folders = &argv[optind + 1];
		arguments->n_folders = (uint32_t)(argc - optind - 1);
	}
	if (arguments->go_on && !arguments->out) {
		fputs("weir lab: --continue needs --out DIR: what was run before lies there\n",
		      stderr);
		return LAB_ARGUMENTS_WRONG;
	}
	if (arguments->list || arguments->what || arguments->merge)
		return LAB_ARGUMENTS_RUN;
	fputs("weir lab: write `weir lab list` or `weir lab run NAME`; `weir lab --help` says "
	      "more\n",
	      stderr);
	return LAB_ARGUMENTS_WRONG;
}
