/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the scenario in force in a file, so that a weir that is started after a crash goes on with
 * what the last one had come to. The file is written anew after each change, whole or not at all
 * (atomic_file.h), in a thread of its own: control waits for no disk. A change of a lease is not in
 * it: the connection that holds the lease ends with weir.
 *
 * It begins with a line that names the scenario file and says when that was written last. Whoever
 * has written it since wants that one: then what was kept does not count. So the line is that of
 * the file before it was read, and while it is read again (SIGHUP) nothing is written. An orderly
 * end removes the file.
 *
 * Thread: control's.
 */
#ifndef WEIR_KEEP_H
#define WEIR_KEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/control.h"

#define KEEP_HEAD_BYTES (PATH_MAX + 100)

struct keep_file {
	const char *path; /* NULL: nothing is kept */
	const char *config;
	char head[KEEP_HEAD_BYTES]; /* the first line */
};

struct keep {
	struct control *control;
	struct keep_file file;
	char next_head[KEEP_HEAD_BYTES]; /* when the scenario file that is being read is in force */
	uint64_t changes;                /* those that are kept, or are being written */
	uint32_t leases;                 /* with so many undone */
	bool begun, complained;
	struct keep_write *write; /* under way; or NULL */
};

/* The scenario file is about to be read. `path` NULL: nothing is kept. Both paths are the
 * caller's. */
void keep_file_note(struct keep_file *file, const char *path, const char *config);
/* What was kept for the scenario file as it was noted. 1, and the scenario is the caller's; 0:
 * nothing; -errno with message: it cannot be read, or is no scenario. */
int keep_load(const struct keep_file *kept, struct scenario **scenario, char *message, size_t room);

/* `file` as it was noted before what is in force was read; NULL: nothing is kept. */
void keep_init(struct keep *keep, struct control *control, const struct keep_file *file);
/* The scenario file is about to be read again. */
void keep_read(struct keep *keep);
/* Writes what is not kept yet. `reading`: what keep_read has announced is not over. To be called
 * often; while something is under way, the executor's descriptor tells that it is over. */
void keep_poll(struct keep *keep, bool reading);
/* Nothing more is written. Before the executor is closed, which waits for what is under way. With
 * `remove`, at an orderly end, nobody is to go on with it: the file is removed, and what is under
 * way does not become it, however long it takes. */
void keep_end(struct keep *keep, bool remove);

#endif
