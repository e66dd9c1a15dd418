/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir diff`: its command line, and the two reruns (record/rerun.h), whose fates Python compares
 * (python/src/weir/diff.py). They go in step, packet by packet, so that few fates wait for their
 * counterpart, however long the runs are. The questions (python/python.h):
 *
 *   {"ask": "begin", "runs": [{"path", "config", "set": [...], "seed", "until_ns", "ideal"}, ...]}
 *                     {"became": [NAME, ...], "ports": [[NAME, ...], [NAME, ...]]}
 *   {"ask": "fates"}  {"fates", "ended"}: of the next packets, in the order of the decisions
 *   {"ask": "end"}    {"own": [[COUNT, ...], [COUNT, ...]], "runs": [{"packets", "otherwise",
 *                     "unknown", "damage"}, ...]}
 *
 * Numbers that are asked are texts of 64 bits. Four words tell a fate: the run, 0 or 1; the packet,
 * `PORT,NUMBER`, and `,copy`; its length, with its delay if it was delivered, `1514+40000000`, or
 * what it became, an index of `became`: `1514-3`; and when it came to the cloud. `own` counts fates
 * of weir's own packets, which have no number. An error is printed here, as it need not be UTF-8:
 * then the answer is {}.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "packet/packet.h"
#include "python/python.h"
#include "record/recording_run.h"
#include "text/alloc_failure.h"

#define PACKETS 512 /* of each run in an answer */

static struct side {
	struct witness witness; /* first member: gets the fates */
	char path[PATH_MAX], config[PATH_MAX];
	struct rerun_asked asked;
	struct recording_folder *folder;
	struct scenario *scenario;
	struct replay_options replay;
	struct rerun_options options;
	struct rerun_result result;
	struct rerun *rerun;
	bool ended;
	uint64_t own[REASON_COUNT + 1];
} sides[2];
static json_t *asked; /* the question of the beginning: its texts stay */
static FILE *fates;   /* of an answer */
static struct problem problem;

static const struct option_row rows[] = {
        {OPTION_CONFIG(union option_value,
                       "compare with a rerun with this scenario in place of the recorded ones")},
        {VALUE("--set", FIELD_TEXT, .form = "LINE",
               .help = "compare with a rerun with this line added to its scenarios")},
        {VALUE("--seed", FIELD_COUNT, .help = "compare with a rerun with this seed")},
        {VALUE("--ideal", FIELD_FLAG,
               .help = "compare with a rerun in which weir itself loses nothing")},
        {VALUE("--until", FIELD_TIME, .help = "compare up to this time after the beginning")},
        {OPTION_JSON(union option_value, "for programs")},
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

/* ---- the reruns ---- */

static void tell(struct witness *witness, const struct fate *fate)
{
	struct side *side = (struct side *)witness;
	const bool delivered = fate->kind == FATE_DELIVERED;
	const uint32_t became = delivered ? REASON_COUNT : fate->reason;

	if (fate->kind > FATE_DROPPED)
		return;
	if (fate->packet == 0) {
		side->own[became]++;
		return;
	}
	fprintf(fates, "%d %s,%" PRIu64 "%s %" PRIu32 "%c%" PRIu64 " %" PRIu64 " ", side != sides,
	        side->scenario->ports[fate->port].name, fate->packet,
	        fate->flags & (PACKET_COPY | PACKET_GENERATED) ? ",copy" : "", fate->wire_bytes,
	        delivered ? '+' : '-', delivered ? fate->t_out_ns - fate->t_in_ns : became,
	        fate->t_in_ns);
}

static const char *text_of(const json_t *run, const char *name)
{
	return json_string_value(json_object_get(run, name));
}

static uint64_t number_of(const json_t *run, const char *name)
{
	const char *text = text_of(run, name);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* Opens the recording of a run, and copies the scenario of its beginning, with the seed. */
static int load(struct side *side, const json_t *run)
{
	struct rerun_asked *plan = &side->asked;
	const json_t *sets = json_object_get(run, "set");
	int rc;

	python_path(run, "path", side->path);
	*plan = (struct rerun_asked){.config = python_path(run, "config", side->config),
	                             .seed_given = text_of(run, "seed"),
	                             .seed = number_of(run, "seed"),
	                             .until_ns = number_of(run, "until_ns"),
	                             .ideal = json_is_true(json_object_get(run, "ideal"))};
	for (; plan->n_set < RERUN_SETS_MAX && plan->n_set < json_array_size(sets); plan->n_set++)
		plan->set[plan->n_set] = json_string_value(json_array_get(sets, plan->n_set));
	rc = recording_folder_open(side->path, plan, &side->folder, &problem);
	if (rc < 0)
		return rc;
	side->scenario = scenario_copy(recording_folder_first(side->folder));
	if (!side->scenario) {
		problem_set(&problem, -1, "no memory");
		return -ENOMEM;
	}
	if (plan->seed_given)
		side->scenario->seed = plan->seed;
	side->witness.tell = tell;
	side->replay =
	        (struct replay_options){.witness = &side->witness, .memory_bytes = REPLAY_MEMORY};
	side->options = recording_folder_rerun(side->folder, &side->replay);
	return 0;
}

static void warn(void *argument, const char *line)
{
	fprintf(stderr, "weir diff: %s: %s\n", (const char *)argument, line);
}

/* Warns about the snaps; for a changed run, only about what the recording has not reported
 * already. */
static void warn_about_snaps(const struct side *first, const struct side *second)
{
	recording_reach(first->folder, true, warn, (void *)(uintptr_t)first->path);
	if (strcmp(first->path, second->path) != 0)
		recording_reach(second->folder, true, warn, (void *)(uintptr_t)second->path);
	else
		recording_reach_more(recording_folder_about(second->folder)->snap,
		                     recording_folder_first(first->folder),
		                     recording_folder_first(second->folder), warn,
		                     (char[]){"the changed rerun"});
}

/* Once memory was short in a recorded run, how it continued is not known: both end there. */
static void end_together(void)
{
	simtime lacked_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t w = 0; w < RERUN_WORKERS_MAX && !sides[i].options.ideal; w++)
			lacked_ns = simtime_min(lacked_ns, sides[i].result.workers[w].lacked_ns);
	}
	for (uint32_t i = 0; i < 2 && lacked_ns > 0; i++)
		sides[i].options.until_ns = simtime_min(sides[i].options.until_ns, lacked_ns - 1);
}

static int begin(const json_t *runs)
{
	int rc = 0;

	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = load(&sides[i], json_array_get(runs, i));
	if (rc == 0)
		warn_about_snaps(&sides[0], &sides[1]);
	for (struct side *side = sides; side < sides + 2 && rc == 0; side++)
		rc = rerun_open(side->scenario, &side->options, &side->result, &problem,
		                &side->rerun);
	if (rc == 0)
		end_together();
	return rc;
}

static int step(struct side *side)
{
	char other[RECORDING_OTHER_BYTES];
	int rc = rerun_next(side->rerun);

	if (rc > 0)
		return 0;
	side->ended = true;
	if (rc == 0)
		rc = rerun_finish(side->rerun);
	if (rc < 0 || !side->result.differs)
		return rc;
	problem_set(&problem, -1, "the rerun of %s recording differs from the recorded run: %s%s",
	            side == sides ? "the first" : "the second", side->result.difference,
	            recording_other_version(recording_folder_about(side->folder), other));
	return -EILSEQ;
}

/* ---- answers ---- */

/* Returns the run that has taken fewer packets; one that has ended, if both have. */
static struct side *behind(void)
{
	struct side *first = &sides[0], *second = &sides[1];

	if (second->ended || (!first->ended && first->result.packets <= second->result.packets))
		return first;
	return second;
}

static json_t *failed(void)
{
	fprintf(stderr, "weir diff: %s\n", problem.text[0] ? problem.text : "no memory");
	return json_object();
}

static json_t *answer_begin(const json_t *question)
{
	json_t *became, *ports;

	asked = json_deep_copy(question);
	if (begin(json_object_get(asked, "runs")) < 0)
		return failed();
	became = json_array();
	ports = json_array();
	for (int i = 0; i < REASON_COUNT; i++)
		json_array_append_new(became, json_string(reason_name((enum reason)i)));
	json_array_append_new(became, json_string("delivered"));
	for (const struct side *side = sides; side < sides + 2; side++) {
		json_t *names = json_array();

		for (uint32_t i = 0; i < side->scenario->n_ports; i++)
			json_array_append_new(names, json_string(side->scenario->ports[i].name));
		json_array_append_new(ports, names);
	}
	return json_pack("{s:o,s:o}", "became", became, "ports", ports);
}

static json_t *answer_fates(const json_t *question)
{
	struct side *next = behind();
	const uint64_t until = next->result.packets + PACKETS;
	json_t *answer = NULL;
	struct printed text;
	int rc = 0;

	(void)question;
	fates = printed_begin(&text);
	for (; rc == 0 && !next->ended && next->result.packets < until; next = behind())
		rc = step(next);
	if (printed_end(&text))
		answer = rc < 0 ? failed()
		                : json_pack("{s:s,s:b}", "fates", text.bytes, "ended",
		                            (int)next->ended);
	free(text.bytes);
	return answer;
}

static json_t *run_of(const struct side *side)
{
	json_t *unknown = json_array();

	for (int i = 0; i < RERUN_WORKERS_MAX; i++) {
		const struct rerun_worker *worker = &side->result.workers[i];

		if (worker->unknown[0])
			json_array_append_new(unknown,
			                      json_pack("{s:i,s:I,s:s}", "worker", i, "known_ns",
			                                (json_int_t)worker->known_ns, "why",
			                                worker->unknown));
	}
	return json_pack("{s:I,s:b,s:o,s:s}", "packets", (json_int_t)side->result.packets,
	                 "otherwise", (int)side->options.otherwise, "unknown", unknown, "damage",
	                 side->result.damage);
}

static json_t *answer_end(const json_t *question)
{
	json_t *own = json_array(), *runs = json_array();

	(void)question;
	for (struct side *side = sides; side < sides + 2; side++) {
		json_t *counts = json_array();

		for (int i = 0; i <= REASON_COUNT; i++)
			json_array_append_new(counts, json_integer((json_int_t)side->own[i]));
		json_array_append_new(own, counts);
		json_array_append_new(runs, run_of(side));
	}
	return json_pack("{s:o,s:o}", "own", own, "runs", runs);
}

static const struct python_ask asks[] = {
        {"begin", answer_begin},
        {"fates", answer_fates},
        {"end", answer_end},
        {NULL, NULL},
};

const struct python_command diff_command = {
        .options = &diff_options,
        .module = "weir.diff",
        .unable = 2,
        .asks = asks,
};
