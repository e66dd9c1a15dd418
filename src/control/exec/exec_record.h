/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log and the picture of a run of `weir exec`, as a replay has them (decision_log.h,
 * picture.h). Where neither is asked for, the engine has no witness, and a packet costs what it
 * cost.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RECORD_H
#define WEIR_EXEC_RECORD_H

#include "offline/replay.h"
#include "scenario/scenario.h"

struct exec_record;

/* `log` and `picture`: files, or NULL. 0; -EINVAL with problem: a file cannot be made, or the
 * scenario has templates; -ENOMEM. *record is NULL if both are. */
int exec_record_open(const char *log, const char *picture, const struct scenario *scenario,
                     struct exec_record **record, struct problem *problem);
/* For the runtime; NULL: nothing is recorded. */
struct witness *exec_record_witness(struct exec_record *record);
/* Takes down what the workers have told; to be called every 100 ms, and when they stand still. */
void exec_record_take(struct exec_record *record);
/* The files get their names: 0, or -errno with problem. Says on standard error what is missing. */
int exec_record_publish(struct exec_record *record, const struct replay_result *result,
                        struct problem *problem);
/* Removes what was not published; always the last call, when no worker is left. NULL is allowed,
 * here and above. */
void exec_record_close(struct exec_record *record);

#endif
