/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir diff`: compares two recorded runs, or one with a changed run of it. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "account/count.h"
#include "command.h"
#include "diff/diff.h"
#include "units/human_unit.h"

static const char *port_name(const struct diff_outcome *outcome, uint32_t port)
{
	const struct diff_side *side = &outcome->sides[0];

	if (port >= SCENARIO_PORTS_MAX) {
		port -= SCENARIO_PORTS_MAX;
		side = &outcome->sides[1];
	}
	return side->scenario->ports[port].name;
}

/* ---- text ---- */

static void print_example(FILE *out, const struct diff_outcome *outcome,
                          const struct fate_example *example)
{
	fprintf(out, "packet %" PRIu64 " of port %s at +%" PRIu64 ".%09" PRIu64 " s",
	        example->packet, port_name(outcome, example->port), example->t_ns / SIMTIME_S,
	        example->t_ns % SIMTIME_S);
}

static void print_change(FILE *out, const struct diff_outcome *outcome, uint32_t from, uint32_t to)
{
	const struct fate_change *change = &outcome->differences.changes[from][to];

	if (change->packets == 0)
		return;
	fprintf(out, "  %-12s -> %-12s %" PRIu64 "\n", became_name(from), became_name(to),
	        change->packets);
	for (uint32_t i = 0; i < FATE_EXAMPLES && i < change->packets; i++) {
		fputs("      ", out);
		print_example(out, outcome, &change->few[i]);
		fputc('\n', out);
	}
}

struct difference_text {
	char text[HUMAN_UNIT_SIZE + 1];
};

/* Formats by how much a delay is longer, with its sign. */
static struct difference_text longer(int64_t ns)
{
	struct difference_text d;

	d.text[0] = ns < 0 ? '-' : '+';
	human_unit_format(d.text + 1, HUMAN_UNIT_SIZE, HUMAN_NS, fabs((double)ns), 9);
	return d;
}

static void print_delays(FILE *out, const struct fate_differences *differences)
{
	const uint64_t n =
	        differences->equal + differences->later.count + differences->earlier.count;

	fprintf(out,
	        "delays, of %" PRIu64 " delivered in both: %" PRIu64 " equal, %" PRIu64
	        " longer, %" PRIu64 " shorter\n",
	        n, differences->equal, differences->later.count, differences->earlier.count);
	if (differences->equal < n)
		fprintf(out, "  by: min %s, p50 %s, p99 %s, max %s\n",
		        longer(fate_differences_delay(differences, 0)).text,
		        longer(fate_differences_delay(differences, 500000)).text,
		        longer(fate_differences_delay(differences, 990000)).text,
		        longer(fate_differences_delay(differences, 1000000)).text);
}

static void print_first(FILE *out, const struct diff_outcome *outcome)
{
	const struct fate_first *first = &outcome->differences.first;

	if (!first->found)
		return;
	fputs("first difference: ", out);
	print_example(out, outcome, &first->at);
	if (first->from != first->to)
		fprintf(out, ": %s -> %s\n", became_name(first->from), became_name(first->to));
	else if (first->later_ns != 0)
		fprintf(out, ": its delay differs by %s\n", longer(first->later_ns).text);
	else
		fputs(": its length differs\n", out);
}

static void print_side(FILE *out, const struct diff_side *side, const char *name)
{
	const struct rerun_result *result = &side->result;

	for (uint32_t i = 0; i < RERUN_WORKERS_MAX; i++) {
		const struct rerun_worker *worker = &result->workers[i];

		if (worker->unknown[0])
			fprintf(out,
			        "%s, worker %" PRIu32 ": known up to +%" PRIu64 ".%09" PRIu64
			        " s: %s\n",
			        name, i, worker->known_ns / SIMTIME_S, worker->known_ns % SIMTIME_S,
			        worker->unknown);
	}
	if (result->damage[0])
		fprintf(out, "%s, ingress.pcapng: %s\n", name, result->damage);
}

static void diff_text_print(FILE *out, const struct diff_outcome *outcome)
{
	const struct fate_differences *differences = &outcome->differences;
	char digits[COUNT_SIZE];

	fprintf(out, "%s and %s came in; %s compared\n",
	        count_text(digits, outcome->sides[0].result.packets),
	        count_of(outcome->sides[1].result.packets, "packet").text,
	        count_of(differences->pairs, "fate").text);
	if (fate_differences_none(differences))
		fputs("the same: every fate, every delay\n", out);
	else
		fprintf(out, "%s a different fate\n",
		        count_of_these(fate_differences_changed(differences), "packet has",
		                       "packets have")
		                .text);
	for (uint32_t from = 0; from < BECAME_KINDS; from++) {
		for (uint32_t to = 0; to < BECAME_KINDS; to++)
			print_change(out, outcome, from, to);
	}
	if (differences->other_length > 0)
		fprintf(out, "%s in length: different packets\n",
		        count_of_these(differences->other_length, "packet differs",
		                       "packets differ")
		                .text);
	for (uint32_t became = 0; became < BECAME_KINDS; became++) {
		const uint64_t *own[2] = {differences->own[0], differences->own[1]};

		if (own[0][became] != own[1][became])
			fprintf(out, "  of weir's own packets %s: %" PRIu64 ", and %" PRIu64 "\n",
			        became_name(became), own[0][became], own[1][became]);
	}
	print_delays(out, differences);
	print_first(out, outcome);
	if (outcome->gone > 0)
		fprintf(out, "%s as having no counterpart, after waiting too long for it\n",
		        count_of_these(outcome->gone, "fate is counted", "fates are counted").text);
	print_side(out, &outcome->sides[0], "the first");
	print_side(out, &outcome->sides[1], "the second");
}

/* ---- JSON ---- */

static json_t *json_example(const struct diff_outcome *outcome, const struct fate_example *example)
{
	return json_pack("{s:s,s:I,s:I}", "port", port_name(outcome, example->port), "packet",
	                 (json_int_t)example->packet, "at_ns", (json_int_t)example->t_ns);
}

static json_t *json_changes(const struct diff_outcome *outcome)
{
	json_t *changes = json_array();

	for (uint32_t k = 0; k < BECAME_KINDS * BECAME_KINDS; k++) {
		const uint32_t from = k / BECAME_KINDS, to = k % BECAME_KINDS;
		const struct fate_change *change = &outcome->differences.changes[from][to];
		json_t *few;

		if (change->packets == 0)
			continue;
		few = json_array();
		for (uint32_t i = 0; i < FATE_EXAMPLES && i < change->packets; i++)
			json_array_append_new(few, json_example(outcome, &change->few[i]));
		json_array_append_new(changes,
		                      json_pack("{s:s,s:s,s:I,s:o}", "from", became_name(from),
		                                "to", became_name(to), "packets",
		                                (json_int_t)change->packets, "few", few));
	}
	return changes;
}

static json_t *json_delays(const struct fate_differences *differences)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "equal", (json_int_t)differences->equal,
	                 "longer", (json_int_t)differences->later.count, "shorter",
	                 (json_int_t)differences->earlier.count, "min_ns",
	                 (json_int_t)fate_differences_delay(differences, 0), "p50_ns",
	                 (json_int_t)fate_differences_delay(differences, 500000), "p99_ns",
	                 (json_int_t)fate_differences_delay(differences, 990000), "max_ns",
	                 (json_int_t)fate_differences_delay(differences, 1000000));
}

static json_t *json_first(const struct diff_outcome *outcome)
{
	const struct fate_first *first = &outcome->differences.first;
	json_t *object;

	if (!first->found)
		return json_null();
	object = json_example(outcome, &first->at);
	json_object_set_new(object, "from", json_string(became_name(first->from)));
	json_object_set_new(object, "to", json_string(became_name(first->to)));
	json_object_set_new(object, "later_ns", json_integer(first->later_ns));
	return object;
}

static json_t *json_own(const struct fate_differences *differences)
{
	json_t *own = json_array();

	for (uint32_t became = 0; became < BECAME_KINDS; became++) {
		const uint64_t n[2] = {differences->own[0][became], differences->own[1][became]};

		if (n[0] + n[1] > 0)
			json_array_append_new(own, json_pack("{s:s,s:[I,I]}", "fate",
			                                     became_name(became), "packets",
			                                     (json_int_t)n[0], (json_int_t)n[1]));
	}
	return own;
}

static json_t *json_side(const struct diff_side *side)
{
	const struct rerun_result *result = &side->result;
	json_t *unknown = json_array();

	for (uint32_t i = 0; i < RERUN_WORKERS_MAX; i++) {
		const struct rerun_worker *worker = &result->workers[i];

		if (worker->unknown[0])
			json_array_append_new(unknown,
			                      json_pack("{s:i,s:I,s:s}", "worker", (int)i,
			                                "known_ns", (json_int_t)worker->known_ns,
			                                "why", worker->unknown));
	}
	return json_pack("{s:I,s:b,s:o,s:s}", "packets", (json_int_t)result->packets, "otherwise",
	                 (int)side->otherwise, "unknown", unknown, "damage", result->damage);
}

/* Returns 0 or -ENOMEM. */
static int diff_json_print(FILE *out, const struct diff_outcome *outcome)
{
	const struct fate_differences *differences = &outcome->differences;
	json_t *object = json_pack(
	        "{s:b,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:I,s:[o,o]}", "same",
	        (int)fate_differences_none(differences), "fates", (json_int_t)differences->pairs,
	        "changed", (json_int_t)fate_differences_changed(differences), "other_length",
	        (json_int_t)differences->other_length, "changes", json_changes(outcome), "delays",
	        json_delays(differences), "first", json_first(outcome), "own",
	        json_own(differences), "unpaired_early", (json_int_t)outcome->gone, "runs",
	        json_side(&outcome->sides[0]), json_side(&outcome->sides[1]));
	int rc = object ? json_dumpf(object, out, JSON_INDENT(1)) : -1;

	json_decref(object);
	fputc('\n', out);
	return rc == 0 ? 0 : -ENOMEM;
}

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
