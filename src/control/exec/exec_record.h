/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run of `weir exec` records: the log and the picture, as in a replay (decision_log.h,
 * picture.h), and the capture. If neither log nor picture is requested, the engine
 * has no witness, and a packet costs no more.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RECORD_H
#define WEIR_EXEC_RECORD_H

#include <stdio.h>

#include "live/runtime.h"
#include "offline/replay.h"
#include "scenario/scenario.h"

struct exec_record;
struct frame_queue;

/* Paths, or NULL. */
struct exec_record_files {
	const char *log, *picture, *pcap;
	const char *command; /* the command line, for the picture */
};

/* Opens the files; `near` is the command's port. Returns 0; -EINVAL with problem if a file cannot
 * be created, or if there is a log or a picture, and the scenario has templates; -ENOMEM. *record
 * is NULL if all files are. */
int exec_record_open(const struct exec_record_files *files, const struct scenario *scenario,
                     uint32_t near, struct exec_record **record, struct problem *problem);
/* For the runtime; they return NULL if there is nothing of the kind. */
struct witness *exec_record_witness(struct exec_record *record);
struct frame_queue *exec_record_frames(struct exec_record *record);
/* `now_ns`: what the clock of the run reads now. */
void exec_record_begin(struct exec_record *record, uint64_t now_ns);
/* Returns how often exec_record_take must be called, in ms: `other`, or more often. */
int exec_record_pace_ms(const struct exec_record *record, int other);
/* Writes what the workers have reported; called also when they stand still. They will report no
 * frame any more that came or left by `until`. */
void exec_record_take(struct exec_record *record, simtime until);
/* Gives the files their names. Returns 0, or -errno with problem. Reports on standard error what is
 * missing. */
int exec_record_publish(struct exec_record *record, const struct replay_result *result,
                        struct problem *problem);
/* Removes files that were not published. Always the last call, when no worker is left. `record` may
 * be NULL, here and above. */
void exec_record_close(struct exec_record *record);

/*
 * The result of `weir exec`: what was configured and achieved, as a table on standard error and as
 * JSON, both as in a replay (replay_report.h, json.h).
 *
 * Thread: control; the workers stand still.
 */

/* Reads the result from the runtime. `start_ns` is on its clock. `result` must be all zero, and is
 * freed by replay_result_free. Returns 0 or -ENOMEM. */
int exec_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result);
void exec_result_print(FILE *out, const struct scenario *scenario,
                       const struct replay_result *result);

#endif
