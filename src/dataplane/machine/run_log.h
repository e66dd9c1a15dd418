/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a weir that runs: the one place through which `weir run`, `weir exec`, `weir serve`
 * and DPDK below them say what happens. A line goes to the journal of systemd, with fields, if
 * standard error leads there (journal.h), else to standard error:
 *
 *   weir run: port b: link down
 *
 *   MESSAGE=port b: link down      PRIORITY=4              SYSLOG_IDENTIFIER=weir
 *   WEIR_COMMAND=run               WEIR_EVENT=link         WEIR_PORT=b
 *
 * The levels are the priorities of syslog(3). What is less important than the level that was asked
 * for is not said. What was asked for and could not be brought to the journal is counted, and the
 * number stands before the next line that can.
 *
 * Usage errors, help and the tables at the end are not lines of the log: they are for the person
 * who has typed the command.
 *
 * Thread: run_log_begin and run_log_end: the main thread, while no other thread logs. The others:
 * any; but a line is a system call, and the packet path has none.
 */
#ifndef WEIR_RUN_LOG_H
#define WEIR_RUN_LOG_H

#include <stdint.h>

#include "machine/journal.h"

enum run_log_level {
	RUN_LOG_ERROR,   /* weir cannot do what was asked for */
	RUN_LOG_WARNING, /* packets are lost that the scenario did not ask for, or will be */
	RUN_LOG_NOTICE,  /* begins, ends, goes on; said if nobody asks for a level */
	RUN_LOG_INFO,    /* changes, and who made them */
	RUN_LOG_DEBUG,   /* what the scenario does: emulated losses, schedules; DPDK's lines */
};
/* Their names in that order, ended by NULL. */
extern const char *const run_log_levels[];

/* A line has so many at most, and its text so many bytes, with the 0; more are cut off. */
#define RUN_LOG_FIELDS_MAX 16
#define RUN_LOG_TEXT_BYTES 4096

/* Before it, lines of RUN_LOG_NOTICE and above go to standard error. `command`: `run`; the caller
 * keeps it. `most`: the least important level that is said. `socket`: the journal's; JOURNAL_SOCKET
 * but in tests. */
void run_log_begin(const char *command, enum run_log_level most, const char *socket);
void run_log_end(void);

/* Says a line, without a new line at its end. */
void run_log(enum run_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* With fields of its own, for the journal. */
void run_log_with(enum run_log_level level, const struct journal_field *fields, uint32_t n,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
