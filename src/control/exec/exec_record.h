/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a run of `weir exec` is taken down while it runs: the log and the picture, as a replay
 * has them (decision_log.h, picture.h), and the capture (exec_capture.h). Where neither of the
 * first two is asked for, the engine has no witness, and a packet costs what it cost.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RECORD_H
#define WEIR_EXEC_RECORD_H

#include "offline/replay.h"
#include "scenario/scenario.h"

struct exec_record;
struct frame_queue;

/* Files, or NULL. */
struct exec_record_files {
	const char *log, *picture, *pcap;
};

/* `near`: the command's port. 0; -EINVAL with problem: a file cannot be made, or the scenario has
 * templates and there is a log or a picture; -ENOMEM. *record is NULL if all files are. */
int exec_record_open(const struct exec_record_files *files, const struct scenario *scenario,
                     uint32_t near, struct exec_record **record, struct problem *problem);
/* For the runtime; NULL: nothing is recorded so. */
struct witness *exec_record_witness(struct exec_record *record);
struct frame_queue *exec_record_frames(struct exec_record *record);
/* What the clock of the run reads now. */
void exec_record_begin(struct exec_record *record, uint64_t now_ns);
/* How often exec_record_take must come, in ms; `other`: nothing here needs it more often. */
int exec_record_pace_ms(const struct exec_record *record, int other);
/* Takes down what the workers have told; also when they stand still. */
void exec_record_take(struct exec_record *record);
/* The files get their names: 0, or -errno with problem. Says on standard error what is missing. */
int exec_record_publish(struct exec_record *record, const struct replay_result *result,
                        struct problem *problem);
/* Removes what was not published; always the last call, when no worker is left. NULL is allowed,
 * here and above. */
void exec_record_close(struct exec_record *record);

#endif
