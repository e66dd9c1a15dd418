/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/exec_capture.h"
#include "fates/departures.h"
#include "live/fate_queue.h"
#include "machine/run_log.h"
#include "replay/decision_log.h"
#include "replay/picture.h"

struct exec_record {
	struct witness both;      /* forwards fates to the log and the picture, if there are any */
	struct fate_queue *fates; /* NULL: there is neither log nor picture */
	struct departures *departures;
	struct decision_log *log;
	struct picture *picture;
	struct exec_capture *capture;
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
		        "%s: the scenario has the template `clouds %s`, whose clouds come and go; "
		        "live, only single clouds can be recorded (--report FILE counts all)",
		        option, scenario->clouds[i]->name);
		return -EINVAL;
	}
	return 0;
}

static int open_fates(struct exec_record *record, const struct exec_record_files *files,
                      const struct scenario *scenario, struct problem *problem)
{
	int rc = check_clouds(scenario, files->log ? "--log" : "--picture", problem);

	if (rc < 0)
		return rc;
	record->fates = fate_queue_make();
	record->departures = departures_make(&record->both);
	if (!record->fates || !record->departures) {
		problem_set(problem, -1, "no memory for the log or the picture");
		return -ENOMEM;
	}
	record->both.tell = tell;
	if (files->log)
		rc = decision_log_open(files->log, scenario, true, &record->log, problem);
	if (rc == 0 && files->picture)
		rc = picture_open(files->picture, (struct picture_of){.command = files->command},
		                  scenario, &record->picture, problem);
	return rc;
}

int exec_record_open(const struct exec_record_files *files, const struct scenario *scenario,
                     uint32_t near, struct exec_record **result, struct problem *problem)
{
	struct exec_record *record;
	int rc = 0;

	*result = NULL;
	if (!files->log && !files->picture && !files->pcap)
		return 0;
	record = calloc(1, sizeof(*record));
	if (!record) {
		problem_set(problem, -1, "no memory to record");
		return -ENOMEM;
	}
	if (files->log || files->picture)
		rc = open_fates(record, files, scenario, problem);
	if (rc == 0 && files->pcap)
		rc = exec_capture_open(files->pcap, scenario, near, &record->capture, problem);
	if (rc == 0)
		*result = record;
	else
		exec_record_close(record);
	return rc;
}

struct witness *exec_record_witness(struct exec_record *record)
{
	return record && record->fates ? fate_queue_witness(record->fates) : NULL;
}

struct frame_queue *exec_record_frames(struct exec_record *record)
{
	return record && record->capture ? exec_capture_frames(record->capture) : NULL;
}

void exec_record_begin(struct exec_record *record, uint64_t now_ns)
{
	if (record && record->capture)
		exec_capture_begin(record->capture, now_ns);
}

int exec_record_pace_ms(const struct exec_record *record, int other)
{
	return record && record->capture && other > EXEC_CAPTURE_PACE_MS ? EXEC_CAPTURE_PACE_MS
	                                                                 : other;
}

void exec_record_take(struct exec_record *record, simtime until)
{
	if (record && record->fates)
		fate_queue_empty(record->fates, departures_witness(record->departures));
	if (record && record->capture)
		exec_capture_take(record->capture, until);
}

static void say_missed(const struct exec_record *record)
{
	uint64_t missed = 0;

	if (record->fates)
		missed = fate_queue_missed(record->fates) + departures_missed(record->departures);
	if (missed > 0)
		run_log(RUN_LOG_WARNING,
		        "%" PRIu64 " decisions came faster than they could be recorded: they are "
		        "missing in the log and the picture",
		        missed);
}

int exec_record_publish(struct exec_record *record, const struct replay_result *result,
                        struct problem *problem)
{
	int rc = 0;

	if (!record)
		return 0;
	if (record->departures)
		departures_end(record->departures);
	say_missed(record);
	if (record->log)
		rc = decision_log_finish(record->log, problem);
	if (rc == 0 && record->picture)
		rc = picture_finish(record->picture, result, problem);
	if (rc == 0 && record->capture)
		rc = exec_capture_finish(record->capture, problem);
	if (rc == 0 && record->log) {
		rc = decision_log_publish(record->log, problem);
		record->log = NULL;
	}
	if (rc == 0 && record->picture) {
		rc = picture_publish(record->picture, problem);
		record->picture = NULL;
	}
	if (rc == 0 && record->capture)
		rc = exec_capture_publish(record->capture, problem);
	return rc;
}

void exec_record_close(struct exec_record *record)
{
	if (!record)
		return;
	decision_log_discard(record->log);
	picture_discard(record->picture);
	exec_capture_close(record->capture);
	departures_free(record->departures);
	fate_queue_free(record->fates);
	free(record);
}
