/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the scenario in force in a file, so that a weir that is started after a crash goes on with
 * what the last one had come to. The file is written anew after each change, whole or not at all
 * (atomic_file.h), in a thread of its own: control waits for no disk. A change of a lease is not in
 * it: the connection that holds the lease ends with weir.
 *
 * It begins with a line that names the scenario file and says when that was written last. Whoever
 * has written it since wants that one: then what was kept does not count. An orderly end removes
 * the file.
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

struct keep {
	struct control *control;
	const char *path; /* NULL: nothing is kept */
	const char *config;
	char head[KEEP_HEAD_BYTES]; /* the first line */
	uint64_t changes;           /* those that are kept, or are being written */
	uint32_t leases;            /* with so many undone */
	bool begun, complained;
	struct keep_write *write; /* under way; or NULL */
};

/* `path` NULL: it does nothing. Both paths are the caller's. */
void keep_init(struct keep *keep, struct control *control, const char *path, const char *config);
/* The scenario file is about to be read (again). */
void keep_read(struct keep *keep);
/* Writes what is not kept yet. To be called often; while something is under way, the executor's
 * descriptor tells that it is over. */
void keep_poll(struct keep *keep);
/* Nothing more is written. Before the executor is closed, which waits for what is under way. */
void keep_end(struct keep *keep);
/* After that, at an orderly end: nobody is to go on with it. */
void keep_remove(const struct keep *keep);

/* What was kept at `path` for the scenario file `config` as it is now. 1, and the scenario is the
 * caller's; 0: nothing; -errno with message: it cannot be read, or is no scenario. */
int keep_load(const char *path, const char *config, struct scenario **scenario, char *message,
              size_t room);

#endif
