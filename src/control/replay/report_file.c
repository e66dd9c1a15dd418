/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/report_file.h"

#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include "show/json.h"
#include "text/alloc_failure.h"

int report_file_write(struct atomic_file *file, const struct scenario *scenario,
                      const struct replay_result *result, struct problem *problem)
{
	json_t *object = json_replay(scenario, result);
	FILE *stream = atomic_file_stream(file);
	int rc = 0;

	if (!object) {
		problem_set(problem, -1, "%s: no memory for the report", atomic_file_path(file));
		return -ENOMEM;
	}
	if (json_dumpf(object, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) < 0 ||
	    fputc('\n', stream) == EOF)
		rc = atomic_file_error(file, problem);
	json_decref(object);
	/* A value that found no memory is missing in an object, and in its text. */
	if (rc == 0 && alloc_failure_taken()) {
		problem_set(problem, -1, "%s: out of memory: the report is incomplete",
		            atomic_file_path(file));
		return -ENOMEM;
	}
	return rc ? rc : atomic_file_finish(file, problem);
}
