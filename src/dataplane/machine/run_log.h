/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a running weir: the one place through which `weir run`, `weir exec` and the DPDK below
 * them report what happens. `weir serve` does the same in Python (python/src/weir/_log.py). A line
 * goes to the journal of systemd, with fields, if standard error leads there, else to standard
 * error:
 *
 *   weir run: port b: link down
 *
 *   MESSAGE=port b: link down      PRIORITY=4              SYSLOG_IDENTIFIER=weir
 *   WEIR_COMMAND=run               WEIR_EVENT=link         WEIR_PORT=b
 *
 * The levels are the priorities of syslog(3). Lines less important than the requested level are not
 * written. Lines that the journal did not take are counted, and the count is logged before the next
 * line that it takes.
 *
 * Usage errors, help and the tables at the end are not lines of the log: they are for the person
 * who has typed the command.
 *
 * Thread: run_log_begin and run_log_end: the main thread, while no other thread logs. The others:
 * any; but a line is a system call, and the packet path has none.
 */
#ifndef WEIR_RUN_LOG_H
#define WEIR_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The journal of systemd, which takes an entry as fields with values, in one datagram: the native
 * journal protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). A value without a newline is
 * `NAME=value\n`; any other value is `NAME\n`, its length as 64 bits, little-endian, the bytes,
 * `\n`.
 *
 * weir sends the datagram itself. libsystemd would wait for a stopped journal that does not read,
 * and the thread that logs is control's, or a worker's. libsystemd would also be one more library
 * with rights of its own in a process that gives up its rights.
 *
 * Thread: journal_open: the main thread; journal_send: any.
 */

/* The path of systemd's socket. */
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
/* The maximum size of an entry. The kernel takes datagrams of about 200 kB. */
#define JOURNAL_BYTES_MAX 16384

/* A field of an entry. Name: capitals, digits and underscores, as `WEIR_CLOUD`. Value: any bytes
 * but a 0. */
struct journal_field {
	const char *name, *value;
};

/* Returns true if the descriptor leads to the journal. systemd says so in $JOURNAL_STREAM: the
 * device and inode of what it has connected to standard output or standard error. */
bool journal_is_behind(int fd);

enum run_log_level {
	RUN_LOG_ERROR,   /* weir cannot do what was asked for */
	RUN_LOG_WARNING, /* packets are lost that the scenario does not drop, or will be */
	RUN_LOG_NOTICE,  /* begins, ends, goes on; the level by default */
	RUN_LOG_INFO,    /* changes, and who made them */
	RUN_LOG_DEBUG,   /* what the scenario does: emulated losses, schedules; DPDK's lines */
};
/* The names of the levels, in that order, ended by NULL. */
extern const char *const run_log_levels[];

/* The maximum number of fields of a line, and of bytes of its text, with the 0; more are cut
 * off. */
#define RUN_LOG_FIELDS_MAX 16
#define RUN_LOG_TEXT_BYTES 4096

/* Begins the log. Before this call, lines of RUN_LOG_NOTICE and above go to standard error.
 * `command`: `run`; the caller keeps it. `most`: the least important level that is written.
 * `socket`: the journal's; JOURNAL_SOCKET except in tests. */
void run_log_begin(const char *command, enum run_log_level most, const char *socket);
void run_log_end(void);

/* Logs a line. The format has no newline at its end. */
void run_log(enum run_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Does the same, with further fields for the journal. */
void run_log_with(enum run_log_level level, const struct journal_field *fields, uint32_t n,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
