/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the scenario in force in a file, so that a weir that is started after a crash continues
 * with the latest scenario. The file is written anew after each change, whole or not at all
 * (atomic_file.h), by a thread that does nothing else: nobody waits for the disk. The change of a
 * lease is not in it, because the connection that holds the lease ends with weir.
 *
 * The first line of the file names the scenario file and says when that was last written. If
 * somebody has written the scenario file since, that person wants the new version, and what was
 * kept does not count. The line therefore describes the file as it was before it was read, and
 * nothing is written while the file is read again (SIGHUP). An orderly end removes the kept file.
 *
 * Thread: main. The thread of keep_start writes; control->lock guards what both use.
 */
#ifndef WEIR_KEEP_H
#define WEIR_KEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/run_log.h"
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
	char next_head[KEEP_HEAD_BYTES]; /* of the scenario file that is being read */
	bool reading;                    /* the scenario file is being read */
	bool begun;                      /* something was kept */
	uint64_t changes;                /* those that are kept, or are being written */
	uint32_t leases;                 /* the number of leases undone in it */
	bool complained;
	bool ends;     /* nothing more is written */
	bool unwanted; /* atomic: the file is to be removed */
	bool runs;     /* the thread */
};

/* Notes the state of the scenario file before it is read. If `path` is NULL, nothing is kept. Both
 * paths remain the caller's. */
void keep_file_note(struct keep_file *file, const char *path, const char *config);
/* Loads what was kept for the scenario file as it was noted. Returns 1, and the caller owns the
 * scenario; 0 if there is nothing; -errno with message if the kept file cannot be read, or is no
 * scenario. */
int keep_load(const struct keep_file *kept, struct scenario **scenario, char *message, size_t room);

/* `file`: noted before the scenario in force was read; NULL: nothing is kept. */
void keep_init(struct keep *keep, struct control *control, const struct keep_file *file);
/* Starts the thread, if something is to be kept. Returns 0 or -EAGAIN. */
int keep_start(struct keep *keep);
/* Writes what is not kept yet. Returns false if there was nothing to write. For that thread, and
 * for tests. */
bool keep_write(struct keep *keep);
/* Notes that the scenario file is about to be read again, and that it was read. For one thread. */
void keep_read(struct keep *keep);
void keep_was_read(struct keep *keep);
/* Writes nothing more. With `remove`, at an orderly end, the thread then removes the file: nobody
 * waits for the disk here, either. */
void keep_end(struct keep *keep, bool remove);
/* Logs that the file stays, if the thread has not removed it. */
void keep_complain(struct keep *keep);

/*
 * Reads the scenario file that weir was started with again: its present content replaces the
 * scenario in force, as one transaction (change.h). weir opens the file, and the
 * files that it names, with its own rights. A thread does that, and reports the result in one line;
 * an error changes nothing. If there is no result after RELOAD_LATE_NS, that is reported, too.
 *
 * Ownership: `path` is the caller's.
 * Thread: main; the thread calls `tell`, too.
 */

struct keep;

#define RELOAD_LATE_NS (20 * SIMTIME_S)

typedef void reload_tell(void *argument, enum run_log_level level, const char *line);

struct reload {
	struct control *control;
	const char *path;  /* NULL: there is no file */
	struct keep *keep; /* learns when the file was read; or NULL */
	reload_tell *tell;
	void *argument;
	/* With control->lock. */
	bool running, again;      /* again: requested while one was under way */
	bool told;                /* that this one takes long */
	struct patience patience; /* with this one */
};

void reload_init(struct reload *reload, struct control *control, const char *path,
                 reload_tell *tell, void *argument);
/* Begins a reload. If one is under way, another follows when it is done. */
void reload_ask(struct reload *reload);
/* Reports a reload that takes long; to be called about every 100 ms. */
void reload_watch(struct reload *reload, uint64_t now_ns);
/* Reloads in this thread. */
void reload_now(struct reload *reload);

#endif
