/* SPDX-License-Identifier: BSD-3-Clause */
#include "diff/diff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "packet/packet.h"
#include "record/recording_run.h"

/* The state of one run while it runs. */
struct runner {
	struct witness witness; /* first member: gets the fates */
	struct fate_pairs *pairs;
	struct fate_differences *differences;
	struct diff_side *side;
	uint32_t index;
	uint32_t ports[SCENARIO_PORTS_MAX]; /* their indices in the first scenario */
	struct replay_options replay;
	struct rerun_options options;
	struct rerun *rerun;
	bool ended;
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct runner *runner = (struct runner *)witness;
	struct fate_seen seen = {.packet = fate->packet,
	                         .t_in_ns = fate->t_in_ns,
	                         .port = runner->ports[fate->port],
	                         .wire_bytes = fate->wire_bytes,
	                         .copy = fate->flags & (PACKET_COPY | PACKET_GENERATED)};

	if (fate->kind > FATE_DROPPED)
		return;
	if (fate->kind == FATE_DELIVERED) {
		seen.became = BECAME_DELIVERED;
		seen.delay_ns = fate->t_out_ns - fate->t_in_ns;
	} else {
		seen.became = fate->reason;
	}
	if (seen.packet == 0)
		runner->differences->own[runner->index][seen.became]++;
	else
		fate_pairs_put(runner->pairs, runner->index, &seen);
}

/* Opens the recording, and copies the scenario of its beginning, with the seed. */
static int load(const struct diff_plan *plan, struct diff_side *side, struct problem *problem)
{
	int rc = recording_folder_open(plan->folder, plan->config, plan->set, plan->n_set,
	                               &side->folder, problem);

	if (rc < 0)
		return rc;
	if (recording_folder_about(side->folder)->flight && plan->seed_given)
		return problem_set(
		        problem, -1,
		        "--seed: a flight continues with the random draws of its run; leave "
		        "--seed out");
	side->otherwise = plan->config || plan->n_set > 0 || plan->seed_given;
	side->scenario = scenario_copy(recording_folder_first(side->folder));
	if (!side->scenario) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	if (plan->seed_given)
		side->scenario->seed = plan->seed;
	return 0;
}

static void find_ports(struct runner *runner, const struct scenario *first)
{
	const struct scenario *own = runner->side->scenario;

	for (uint32_t i = 0; i < own->n_ports; i++) {
		const int index = scenario_find_port(first, own->ports[i].name);

		/* A port that the first scenario lacks gets an index beyond all of its ports. */
		runner->ports[i] = index < 0 ? SCENARIO_PORTS_MAX + i : (uint32_t)index;
	}
}

static int open_run(struct runner *runner, const struct diff_plan *plan, struct problem *problem)
{
	struct diff_side *side = runner->side;
	const struct recording_about *about = recording_folder_about(side->folder);

	runner->witness.tell = tell;
	runner->replay = (struct replay_options){
	        .witness = &runner->witness,
	        /* Everything that the recorded run held finds room. */
	        .memory_bytes = RTE_MAX(REPLAY_MEMORY, 2 * about->memory_bytes),
	};
	runner->options = recording_folder_rerun(side->folder);
	runner->options.otherwise = side->otherwise;
	runner->options.ideal = plan->ideal;
	runner->options.until_ns = plan->until_ns ? plan->until_ns : SIMTIME_NEVER;
	runner->options.replay = &runner->replay;
	return rerun_open(side->scenario, &runner->options, &side->result, problem, &runner->rerun);
}

static int step(struct runner *runner, struct problem *problem)
{
	const struct rerun_result *result = &runner->side->result;
	char other[RECORDING_OTHER_BYTES];
	int rc = rerun_next(runner->rerun);

	if (rc > 0)
		return 0;
	runner->ended = true;
	if (rc == 0)
		rc = rerun_finish(runner->rerun);
	if (rc < 0 || !result->differs)
		return rc;
	problem_set(problem, -1, "the rerun of %s recording differs from the recorded run: %s%s",
	            runner->index == 0 ? "the first" : "the second", result->difference,
	            recording_other_version(recording_folder_about(runner->side->folder), other));
	return -EILSEQ;
}

/* Once memory was short in a recorded run, how it continued is not known: both end there. */
static void end_together(struct runner runners[2])
{
	simtime lacked_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < 2; i++) {
		const struct rerun_worker *workers = runners[i].side->result.workers;

		for (uint32_t w = 0; w < RERUN_WORKERS_MAX && !runners[i].options.ideal; w++)
			lacked_ns = simtime_min(lacked_ns, workers[w].lacked_ns);
	}
	for (uint32_t i = 0; i < 2 && lacked_ns > 0; i++)
		runners[i].options.until_ns =
		        simtime_min(runners[i].options.until_ns, lacked_ns - 1);
}

/* Steps the run that has taken fewer packets. */
static int run_both(struct runner runners[2], struct problem *problem)
{
	int rc = 0;

	while (rc == 0 && !(runners[0].ended && runners[1].ended)) {
		const uint64_t first = runners[0].side->result.packets;
		const uint64_t second = runners[1].side->result.packets;
		const bool is_first = runners[1].ended || (!runners[0].ended && first <= second);

		rc = step(&runners[is_first ? 0 : 1], problem);
	}
	return rc;
}

static void warn(void *argument, const char *line)
{
	fprintf(stderr, "weir diff: %s: %s\n", (const char *)argument, line);
}

int diff_run(const struct diff_plan plans[2], struct diff_outcome *outcome, struct problem *problem)
{
	struct runner runners[2] = {{.index = 0}, {.index = 1}};
	struct fate_pairs *pairs = fate_pairs_make(FATE_PAIRS_ROOM, &outcome->differences);
	int rc = pairs ? 0 : -ENOMEM;

	if (!pairs)
		problem_set(problem, -1, "no memory to compare");
	for (uint32_t i = 0; i < 2 && rc == 0; i++) {
		runners[i].side = &outcome->sides[i];
		runners[i].pairs = pairs;
		runners[i].differences = &outcome->differences;
		rc = load(&plans[i], runners[i].side, problem);
		if (rc == 0)
			find_ports(&runners[i], outcome->sides[0].scenario);
	}
	if (rc == 0) {
		/* Warns about the snaps; for a changed run, only about what the recording has not
		 * reported already. */
		const struct recording_folder *one = outcome->sides[0].folder,
		                              *other = outcome->sides[1].folder;

		recording_reach(one, true, warn, (void *)(uintptr_t)plans[0].folder);
		if (strcmp(plans[0].folder, plans[1].folder) != 0)
			recording_reach(other, true, warn, (void *)(uintptr_t)plans[1].folder);
		else
			recording_reach_more(
			        recording_folder_about(other)->snap, recording_folder_first(one),
			        recording_folder_first(other), warn, (char[]){"the changed rerun"});
	}
	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = open_run(&runners[i], &plans[i], problem);
	if (rc == 0) {
		end_together(runners);
		rc = run_both(runners, problem);
	}
	if (rc == 0)
		outcome->gone = fate_pairs_end(pairs);
	for (uint32_t i = 0; i < 2; i++)
		rerun_close(runners[i].rerun);
	fate_pairs_free(pairs);
	return rc;
}

void diff_outcome_release(struct diff_outcome *outcome)
{
	for (uint32_t i = 0; i < 2; i++) {
		replay_result_free(&outcome->sides[i].result.replay);
		scenario_free(outcome->sides[i].scenario);
		recording_folder_close(outcome->sides[i].folder);
	}
}
