/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the scenario file that weir was started with again: its present content replaces the
 * scenario in force, as one transaction (pending.h, batch_of_file). weir opens the file, and the
 * files that it names, with its own rights. The result is reported in one line; an error changes
 * nothing.
 *
 * Ownership: `path` is the caller's.
 * Thread: control's.
 */
#ifndef WEIR_RELOAD_H
#define WEIR_RELOAD_H

#include "socket/dialogue.h"

typedef void reload_tell(void *argument, enum run_log_level level, const char *line);

struct reload {
	struct dialogue dialogue;
	const char *path; /* NULL: there is no file */
	bool again;       /* requested while one was under way */
	reload_tell *tell;
	void *argument;
};

void reload_init(struct reload *reload, struct control *control, const char *path,
                 reload_tell *tell, void *argument);
/* Begins a reload. If one is under way, another follows when it is done. */
void reload_ask(struct reload *reload, uint64_t now_ns);
/* Continues the reload. Returns true while one is under way; then it must be polled again soon. */
bool reload_poll(struct reload *reload, uint64_t now_ns);
void reload_release(struct reload *reload);

#endif
