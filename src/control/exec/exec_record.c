/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "live/fate_queue.h"
#include "replay/decision_log.h"
#include "replay/picture.h"

struct exec_record {
	struct witness both; /* tells the log and the picture, as far as there are */
	struct fate_queue *fates;
	struct decision_log *log;
	struct picture *picture;
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct exec_record *record = (struct exec_record *)witness;

	if (record->log)
		decision_log_witness(record->log)->tell(decision_log_witness(record->log), fate);
	if (record->picture)
		picture_witness(record->picture)->tell(picture_witness(record->picture), fate);
}

static int check_clouds(const struct scenario *scenario, const char *option,
                        struct problem *problem)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (!scenario->clouds[i]->many)
			continue;
		problem_set(
		        problem, -1,
		        "%s: the scenario has `clouds %s`, whose clouds come and go; live, only "
		        "single clouds can be recorded (--report FILE counts all)",
		        option, scenario->clouds[i]->name);
		return -EINVAL;
	}
	return 0;
}

int exec_record_open(const char *log, const char *picture, const struct scenario *scenario,
                     struct exec_record **result, struct problem *problem)
{
	struct exec_record *record;
	int rc;

	*result = NULL;
	if (!log && !picture)
		return 0;
	rc = check_clouds(scenario, log ? "--log" : "--picture", problem);
	if (rc < 0)
		return rc;
	record = calloc(1, sizeof(*record));
	if (record)
		record->fates = fate_queue_make();
	if (!record || !record->fates) {
		free(record);
		problem_set(problem, -1, "no memory for the log or the picture");
		return -ENOMEM;
	}
	record->both.tell = tell;
	if (log)
		rc = decision_log_open(log, scenario, &record->log, problem);
	if (rc == 0 && picture)
		rc = picture_open(picture, "weir exec", scenario, &record->picture, problem);
	if (rc == 0)
		*result = record;
	else
		exec_record_close(record);
	return rc;
}

struct witness *exec_record_witness(struct exec_record *record)
{
	return record ? fate_queue_witness(record->fates) : NULL;
}

void exec_record_take(struct exec_record *record)
{
	if (record)
		fate_queue_empty(record->fates, &record->both);
}

int exec_record_publish(struct exec_record *record, const struct replay_result *result,
                        struct problem *problem)
{
	uint64_t missed;
	int rc = 0;

	if (!record)
		return 0;
	missed = fate_queue_missed(record->fates);
	if (missed > 0)
		fprintf(stderr,
		        "weir exec: %" PRIu64
		        " decisions came faster than they could be taken down: the log and the "
		        "picture are without them\n",
		        missed);
	if (record->log)
		rc = decision_log_finish(record->log, problem);
	if (rc == 0 && record->picture)
		rc = picture_finish(record->picture, result, problem);
	if (rc == 0 && record->log) {
		rc = decision_log_publish(record->log, problem);
		record->log = NULL;
	}
	if (rc == 0 && record->picture) {
		rc = picture_publish(record->picture, problem);
		record->picture = NULL;
	}
	return rc;
}

void exec_record_close(struct exec_record *record)
{
	if (!record)
		return;
	decision_log_discard(record->log);
	picture_discard(record->picture);
	fate_queue_free(record->fates);
	free(record);
}
