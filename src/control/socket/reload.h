/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the scenario file that weir was started with again: its present content replaces the
 * scenario in force, as one transaction (change.h). weir opens the file, and the
 * files that it names, with its own rights. A thread does that, and reports the result in one line;
 * an error changes nothing. If there is no result after RELOAD_LATE_NS, that is reported, too.
 *
 * Ownership: `path` is the caller's.
 * Thread: main; the thread calls `tell`, too.
 */
#ifndef WEIR_RELOAD_H
#define WEIR_RELOAD_H

#include "machine/run_log.h"
#include "service/control.h"

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
