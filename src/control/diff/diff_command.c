/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir diff`: compares two recorded runs, or one with a changed run of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "diff/diff_run.h"

struct diff_arguments {
	struct diff_plan plan; /* of the second run; `folder` is set by parse() */
	const char *config;
	uint64_t seed, until_ns;
	bool ideal, json;
};

static int take_set(const struct field *option, char *text, void *arguments,
                    struct language_error *error)
{
	struct diff_plan *plan = &((struct diff_arguments *)arguments)->plan;

	if (plan->n_set == DIFF_SETS_MAX)
		return language_error_set(error, ERROR_FULL, "%s: more than %u lines", option->name,
		                          DIFF_SETS_MAX);
	plan->set[plan->n_set++] = text;
	return 0;
}

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct diff_arguments,
                       "compare with a rerun with this scenario in place of the recorded ones")},
        {OPTION("--set", FIELD_TEXT, struct diff_arguments, plan, .form = "LINE",
                .help = "compare with a rerun with this line added to its scenarios"),
         .take = take_set},
        {OPTION("--seed", FIELD_COUNT, struct diff_arguments, seed,
                .help = "compare with a rerun with this seed")},
        {OPTION("--ideal", FIELD_FLAG, struct diff_arguments, ideal,
                .help = "compare with a rerun in which weir itself loses nothing")},
        {OPTION("--until", FIELD_TIME, struct diff_arguments, until_ns,
                .help = "compare up to this time after the beginning")},
        {OPTION_JSON(struct diff_arguments, "for programs")},
        OPTIONS_END,
};

const struct options diff_options = {
        .command = "diff",
        .usage = "DIR DIR [options]\n"
                 "DIR [-c FILE] [--set LINE ...] [--seed N] [--ideal] [options]",
        .does = "Compares two recordings, or one and a changed rerun of it, packet by packet.",
        .end = "The exit status is 0: the same; 1: different; 2: it could not be compared.\n",
        .rows = rows,
};

/* Returns OPTIONS_RUN, or the exit status; then all output has been printed. */
static int parse(int argc, char **argv, struct diff_arguments *arguments, struct diff_plan plans[2])
{
	struct options_words words;
	int status = options_read(&diff_options, argc, argv, arguments, &words);
	struct diff_plan *second = &arguments->plan;
	bool otherwise;

	if (status != OPTIONS_RUN)
		return status;
	second->config = arguments->config;
	second->seed = arguments->seed;
	second->seed_given = options_given(&diff_options, &words, "--seed");
	second->ideal = arguments->ideal;
	otherwise = second->config || second->n_set || second->seed_given || second->ideal;
	if (words.n == 0 || words.n > 2)
		return options_wrong(&diff_options, "give one recording or two: weir diff DIR DIR");
	if (words.n == 2 && otherwise)
		return options_wrong(&diff_options, "-c, --set, --seed and --ideal are for a rerun "
		                                    "of one recording; here are two");
	if (words.n == 1 && !otherwise)
		return options_wrong(&diff_options,
		                     "%s: compare it with another recording, or give -c FILE, "
		                     "--set LINE, --seed N or --ideal",
		                     words.word[0]);
	second->until_ns = arguments->until_ns;
	second->folder = words.word[words.n - 1];
	plans[0] = (struct diff_plan){.folder = words.word[0], .until_ns = arguments->until_ns};
	plans[1] = *second;
	return OPTIONS_RUN;
}

int command_diff(int argc, char **argv)
{
	struct diff_arguments arguments = {.json = false};
	struct diff_plan plans[2];
	struct problem problem = {.text = ""};
	struct diff_outcome *outcome;
	int status = parse(argc, argv, &arguments, plans), rc;

	if (status != OPTIONS_RUN)
		return status;
	outcome = calloc(1, sizeof(*outcome));
	rc = outcome ? diff_run(plans, outcome, &problem) : -ENOMEM;
	if (rc == 0 && arguments.json)
		rc = diff_json_print(stdout, outcome);
	else if (rc == 0)
		diff_text_print(stdout, outcome);
	if (rc < 0)
		fprintf(stderr, "weir diff: %s\n", problem.text[0] ? problem.text : "no memory");
	status = rc < 0 ? 2 : !fate_differences_none(&outcome->differences);
	if (outcome)
		diff_outcome_release(outcome);
	free(outcome);
	return status;
}
