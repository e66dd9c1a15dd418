/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/reload.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

void reload_init(struct reload *reload, struct control *control, const char *path,
                 reload_tell *tell, void *argument)
{
	memset(reload, 0, sizeof(*reload));
	reload->dialogue.control = control;
	reload->dialogue.output.json = true;
	snprintf(reload->dialogue.who.name, sizeof(reload->dialogue.who.name), "SIGHUP");
	reload->path = path;
	reload->tell = tell;
	reload->argument = argument;
}

/* `FILE:LINE:COLUMN: what is wrong, and what would be right` */
static void reload_tell_error(struct reload *reload, const json_t *error)
{
	json_int_t line = json_integer_value(json_object_get(error, "line"));
	json_int_t column = json_integer_value(json_object_get(error, "column"));
	const char *message = json_string_value(json_object_get(error, "message"));
	char text[1200], at[64] = "";

	if (line > 0)
		snprintf(at, sizeof(at), ":%lld:%lld", (long long)line,
		         (long long)(column > 0 ? column : 1));
	snprintf(text, sizeof(text), "%.300s%s: %s (the scenario in force stays)", reload->path, at,
	         message != NULL ? message : "cannot be reloaded");
	reload->tell(reload->argument, RUN_LOG_ERROR, text);
}

static void reload_answered(struct reload *reload)
{
	struct output *output = &reload->dialogue.output;
	json_t *object = json_loadb(output->bytes + output->head, output->n, 0, NULL);
	const char *late = json_string_value(json_object_get(object, "late"));
	char text[700];

	if (json_is_true(json_object_get(object, "ok"))) {
		snprintf(text, sizeof(text), "%.300s: reloaded, and in force%s%.300s", reload->path,
		         late != NULL ? ": " : "", late != NULL ? late : "");
		reload->tell(reload->argument, RUN_LOG_NOTICE, text);
	} else {
		reload_tell_error(reload, json_object_get(object, "error"));
	}
	json_decref(object);
	output_taken(output, output->n);
}

void reload_ask(struct reload *reload, uint64_t now_ns)
{
	if (reload->path == NULL)
		return;
	reload->again = dialogue_pending(&reload->dialogue);
	if (reload->again)
		return;
	reload->dialogue.now_ns = now_ns;
	dialogue_load(&reload->dialogue, reload->path);
	reload_poll(reload, now_ns);
}

bool reload_poll(struct reload *reload, uint64_t now_ns)
{
	reload->dialogue.now_ns = now_ns;
	dialogue_poll(&reload->dialogue);
	if (reload->dialogue.output.n > 0 || reload->dialogue.output.failed)
		reload_answered(reload);
	reload->dialogue.output.failed = false;
	if (dialogue_pending(&reload->dialogue))
		return true;
	if (!reload->again)
		return false;
	reload->again = false;
	reload_ask(reload, now_ns);
	return dialogue_pending(&reload->dialogue);
}

void reload_release(struct reload *reload)
{
	dialogue_release(&reload->dialogue);
}
