/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_recording.h"
#include "account/count.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

static void print_worker(FILE *out, uint32_t index, const struct rerun_worker *worker, bool ideal)
{
	const simtime lacked_ns = worker->lacked_ns;

	if (ideal && lacked_ns != SIMTIME_NEVER)
		fprintf(out,
		        "worker %" PRIu32 ": from +%" PRIu64 ".%09" PRIu64
		        " s on, weir had no memory for some packets: they find some here, and "
		        "nothing is compared\n",
		        index, lacked_ns / SIMTIME_S, lacked_ns % SIMTIME_S);
	if (worker->unknown[0])
		fprintf(out, "worker %" PRIu32 ": known up to +%" PRIu64 ".%09" PRIu64 " s: %s\n",
		        index, worker->known_ns / SIMTIME_S, worker->known_ns % SIMTIME_S,
		        worker->unknown);
}

static void print_begin(FILE *out, const struct rerun_options *options,
                        const struct rerun_result *result)
{
	simtime from_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < options->workers; i++) {
		if (result->workers[i].from_ns > 0)
			from_ns = simtime_min(from_ns, result->workers[i].from_ns);
	}
	if (from_ns != SIMTIME_NEVER)
		fprintf(out, "from +%" PRIu64 ".%09" PRIu64 " s on; ", from_ns / SIMTIME_S,
		        from_ns % SIMTIME_S);
}

static void print_outcome(FILE *out, const struct rerun_options *options,
                          const struct rerun_result *result)
{
	uint64_t packets = 0, changes = 0;
	char digits[COUNT_SIZE];

	for (uint32_t i = 0; i < options->workers; i++) {
		packets += result->workers[i].packets;
		changes = RTE_MAX(changes, result->workers[i].changes);
	}
	fprintf(out, "%s came in, %s, %s left; ", count_of(packets, "packet").text,
	        count_of(changes, "change").text, count_text(digits, result->departures));
	if (options->flight)
		print_begin(out, options, result);
	if (options->otherwise)
		fputs("not compared: this is a changed run, not the recorded one\n", out);
	else if (options->flight)
		fprintf(out, "%s of departures, their times and counters: all agree\n",
		        count_of(result->checks, "comparison").text);
	else
		fprintf(out,
		        "%s compared: all left at the same nanosecond with the same bytes; %s of "
		        "counters: all agree\n",
		        count_text(digits, result->compared),
		        count_of(result->checks, "comparison").text);
	if (result->swapped > 0)
		fprintf(out,
		        "%" PRIu64
		        " left in a different order within one nanosecond: a device was full\n",
		        result->swapped);
	if (result->unsent > 0)
		fprintf(out, "%" PRIu64 " were lost by weir itself, when no device took them%s\n",
		        result->unsent,
		        options->ideal ? ": they leave here" : "; they are left out (--ideal)");
	for (uint32_t i = 0; i < options->workers; i++)
		print_worker(out, i, &result->workers[i], options->ideal);
	if (result->damage[0])
		fprintf(out, "ingress.pcapng: %s\n", result->damage);
}

int replay_recording_run(const struct replay_arguments *arguments, struct recording_folder *folder,
                         const struct scenario *scenario, const struct replay_options *options,
                         FILE *out, struct replay_result *result, struct problem *problem)
{
	const struct recording_about *about = recording_folder_about(folder);
	struct replay_options replay = *options;
	struct rerun_options rerun = {
	        .path = about->ingress,
	        .workers = about->workers,
	        .snap = about->snap,
	        .flight = about->flight,
	        .change = recording_folder_change,
	        .begun = recording_folder_begun,
	        .otherwise = arguments->config || arguments->n_set || arguments->seed_given,
	        .ideal = arguments->ideal,
	        .until_ns = arguments->until_ns ? arguments->until_ns : SIMTIME_NEVER,
	        .replay = &replay,
	        .argument = folder,
	};
	struct rerun_result *outcome = calloc(1, sizeof(*outcome));
	char other[RECORDING_OTHER_BYTES];
	int rc;

	if (!outcome) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	memcpy(rerun.emulator, about->emulator, sizeof(rerun.emulator));
	/* The packets held in the recorded run must have room here, too. */
	replay.memory_bytes = RTE_MAX(replay.memory_bytes, 2 * about->memory_bytes);
	rc = rerun_run(scenario, &rerun, outcome, problem);
	if (rc == 0 && outcome->differs) {
		problem_set(problem, -1, "%s: differs from the recorded run: %s%s",
		            arguments->recording, outcome->difference,
		            recording_other_version(about, other));
		rc = -EILSEQ;
	}
	if (rc == 0)
		print_outcome(out, &rerun, outcome);
	*result = outcome->replay;
	free(outcome);
	return rc;
}
