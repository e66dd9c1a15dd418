/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/peer.h"
#include "socket/change.h"
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

static void run(void *argument)
{
	struct reload *reload = argument;
	bool goes_on = true;

	while (goes_on) {
		if (reload->keep != NULL)
			keep_read(reload->keep);
		reload_now(reload);
		if (reload->keep != NULL)
			keep_was_read(reload->keep);
		control_lock(reload->control);
		goes_on = reload->running = reload->again && !reload->control->ends;
		reload->again = reload->told = false;
		reload->patience.waited_ns = 0;
		control_unlock(reload->control);
	}
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
	if (!begins || control_thread(reload->control, run, reload) == 0)
		return;
	reload->tell(reload->argument, RUN_LOG_ERROR,
	             "no thread can be started to read the scenario file again; it stays as it is");
	control_lock(reload->control);
	reload->running = false;
	control_unlock(reload->control);
}

void reload_watch(struct reload *reload, uint64_t now_ns)
{
	char text[500];
	bool late;

	control_lock(reload->control);
	late = patience_look(&reload->patience, now_ns) >= RELOAD_LATE_NS && reload->running &&
	       !reload->told;
	if (!reload->running)
		reload->patience.waited_ns = 0;
	reload->told |= late;
	control_unlock(reload->control);
	if (!late)
		return;
	snprintf(text, sizeof(text),
	         "%.300s: not reloaded after 20 s: its disk does not answer, or that of a file "
	         "which it names; the scenario in force stays until they do",
	         reload->path);
	reload->tell(reload->argument, RUN_LOG_WARNING, text);
}
