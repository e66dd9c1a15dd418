/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/peer.h"
#include "socket/commit.h"
#include "socket/keep.h"

void reload_init(struct reload *reload, struct control *control, const char *path,
                 reload_tell *tell, void *argument)
{
	*reload = (struct reload){
	        .control = control, .path = path, .tell = tell, .argument = argument};
}

/* `FILE:LINE:COLUMN: what is wrong, and what would be right` */
static void tell_error(struct reload *reload, const struct batch_error *error)
{
	char text[1200], at[64] = "";

	if (error->line > 0)
		snprintf(at, sizeof(at), ":%u:%u", error->line,
		         error->column > 0 ? error->column : 1);
	snprintf(text, sizeof(text), "%.300s%s: %s (the scenario in force stays)", reload->path, at,
	         error->message);
	reload->tell(reload->argument, RUN_LOG_ERROR, text);
}

void reload_now(struct reload *reload)
{
	const struct peer who = {.name = "SIGHUP"};
	struct commit commit = {.control = reload->control, .who = &who};
	int result = batch_of_file(&commit.batch, reload->path, &commit.error);
	char text[700];

	if (result == 0)
		result = commit_batch(&commit);
	if (result == 0) {
		snprintf(text, sizeof(text), "%.300s: reloaded, and in force%s%.300s", reload->path,
		         commit.late[0] != '\0' ? ": " : "", commit.late);
		reload->tell(reload->argument, RUN_LOG_NOTICE, text);
	} else if (result != -ECANCELED) {
		tell_error(reload, &commit.error);
	}
	commit_release(&commit);
}

/* Returns true if another reload was requested meanwhile; otherwise none is under way any more. */
static bool goes_on(struct reload *reload)
{
	bool again;

	if (reload->keep != NULL)
		keep_was_read(reload->keep);
	control_lock(reload->control);
	again = reload->running = reload->again && !reload->control->ends;
	reload->again = false;
	control_unlock(reload->control);
	if (again && reload->keep != NULL)
		keep_read(reload->keep);
	return again;
}

static void run(void *argument)
{
	struct reload *reload = argument;

	do {
		reload_now(reload);
	} while (goes_on(reload));
}

void reload_ask(struct reload *reload)
{
	bool begins;

	if (reload->path == NULL)
		return;
	control_lock(reload->control);
	begins = !reload->running;
	reload->running = true;
	reload->again = !begins;
	control_unlock(reload->control);
	if (!begins)
		return;
	if (reload->keep != NULL)
		keep_read(reload->keep);
	if (control_thread(reload->control, run, reload) == 0)
		return;
	reload->tell(reload->argument, RUN_LOG_ERROR,
	             "no thread can be started to read the scenario file again; it stays as it is");
	goes_on(reload);
}
