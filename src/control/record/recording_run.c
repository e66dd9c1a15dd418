/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "language/scenario_file.h"
#include "machine/run_log.h"
#include "record/recording_outcome.h"
#include "service/recorded_text.h"
#include "service/snap_reach.h"

const char *recording_arguments_vain(const struct recording_arguments *arguments)
{
	if (arguments->folder)
		return NULL;
	if (arguments->zstd)
		return "--zstd";
	return arguments->snap ? "--snap" : arguments->limit_bytes ? "--limit" : NULL;
}

static void warn(void *argument, const char *line)
{
	(void)argument;
	run_log(RUN_LOG_WARNING, "--snap: %s", line);
}

int recording_run_begin(const struct recording_arguments *arguments,
                        const struct scenario *scenario, struct recording **recording,
                        struct problem *problem)
{
	const struct recording_plan plan = {.folder = arguments->folder,
	                                    .weir = WEIR_VERSION,
	                                    .snap = (uint32_t)arguments->snap,
	                                    .limit_bytes = arguments->limit_bytes,
	                                    .zstd = arguments->zstd};
	char *text;
	int rc;

	*recording = NULL;
	if (!arguments->folder)
		return 0;
	snap_reach((uint32_t)arguments->snap, scenario, warn, NULL);
	text = scenario_text(scenario);
	rc = text ? recording_open(&plan, scenario, text, recording, problem) : -ENOMEM;
	free(text);
	if (rc == 0 && recorded_files(*recording, scenario) < 0) {
		problem_set(problem, -1, "%s: the files that the scenario names cannot be kept",
		            arguments->folder);
		rc = -EIO;
	}
	return rc;
}

int recording_run_end(const struct runtime *runtime, const struct scenario *scenario)
{
	const struct recording *recording = runtime_recording(runtime);
	struct recording_counts counts;
	struct problem problem;

	if (!recording)
		return 0;
	recording_counts(recording, &counts);
	run_log(counts.missed > 0 ? RUN_LOG_WARNING : RUN_LOG_NOTICE,
	        "recorded in %s: %" PRIu64 " packets, %" PRIu64 " MB%s",
	        recording_folder(recording), counts.packets, counts.bytes / 1000000,
	        counts.missed > 0 ? "; some are missing, for the disk was too slow" : "");
	if (recording_outcome_write(recording, runtime, scenario, &problem) == 0)
		return 0;
	run_log(RUN_LOG_ERROR, "%s", problem.text);
	return 1;
}
