/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/event.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "account/count.h"
#include "stream/flight_dumps.h"
#include "record/recording.h"
#include "service/event_log.h"
#include "show/json.h"
#include "text/alloc_failure.h"

#define SENTENCE_BYTES 1200
#define HEAD_BYTES     120

/* ---- the log ---- */

#define FIELD_NAME_BYTES  40
#define FIELD_VALUE_BYTES 24

struct field_text {
	char name[FIELD_NAME_BYTES], value[FIELD_VALUE_BYTES];
};

/* Makes the field WEIR_NAME, such as WEIR_FIRST_OF_KIND for `first_of_kind`. Returns false if the
 * value is a list or an object. */
static bool field_of(const char *name, const json_t *value, struct field_text *text,
                     struct journal_field *field)
{
	*field = (struct journal_field){text->name, text->value};
	snprintf(text->name, sizeof(text->name), "WEIR_%s", name);
	for (char *c = text->name; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	if (json_is_integer(value))
		snprintf(text->value, sizeof(text->value), "%lld",
		         (long long)json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(text->value, sizeof(text->value), "%s",
		         json_is_true(value) ? "true" : "false");
	else
		field->value = json_string_value(value);
	return field->value != NULL;
}

static void log_line(enum run_log_level level, const char *kind, json_t *members,
                     const char *sentence)
{
	struct journal_field fields[RUN_LOG_FIELDS_MAX] = {{"WEIR_EVENT", kind}};
	struct field_text texts[RUN_LOG_FIELDS_MAX];
	uint32_t n = 1;
	const char *name;
	json_t *value;

	json_object_foreach(members, name, value)
	{
		if (n < RUN_LOG_FIELDS_MAX && field_of(name, value, &texts[n], &fields[n]))
			n++;
	}
	run_log_with(level, fields, n, "%s", sentence);
}

/* Adds it in any case, if only as incomplete, for lack of memory or because its object is too long:
 * a missing number would look like a missing event. With events_lock, so that numbers and instants
 * have one order. */
static void add(struct control *control, const char *kind, json_t *members, const char *sentence)
{
	const uint64_t number = event_log_next(control->events), t_ns = control_now_ns(control);
	char plain[HEAD_BYTES + 160], text[SENTENCE_BYTES + HEAD_BYTES + 64], date[40],
	        *line = NULL;
	struct timespec wall;
	json_t *object;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &wall);
	gmtime_r(&wall.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text),
	         "event %" PRIu64 " %s.%06ldZ +%" PRIu64 ".%09" PRIu64 "s %s: %s", number, date,
	         wall.tv_nsec / 1000, t_ns / SIMTIME_S, t_ns % SIMTIME_S, kind, sentence);
	object = json_pack("{s:s,s:I,s:I,s:I}", "event", kind, "seq", (json_int_t)number, "t_ns",
	                   (json_int_t)t_ns, "wall_ns",
	                   (json_int_t)wall.tv_sec * (json_int_t)SIMTIME_S + wall.tv_nsec);
	if (object != NULL && members != NULL && json_object_update(object, members) == 0 &&
	    json_object_set_new(object, "text", json_string(sentence)) == 0)
		line = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (line == NULL || strlen(line) + strlen(sentence) + HEAD_BYTES + 64 > EVENT_BYTES_MAX) {
		free(line);
		line = NULL;
		snprintf(plain, sizeof(plain),
		         "{\"event\":\"%.32s\",\"seq\":%" PRIu64 ",\"t_ns\":%" PRIu64
		         ",\"wall_ns\":%" PRIu64 ",\"incomplete\":true}",
		         kind, number, t_ns,
		         (uint64_t)wall.tv_sec * SIMTIME_S + (uint64_t)wall.tv_nsec);
	}
	event_log_add(control->events, line != NULL ? line : plain, text);
	if (control->recording != NULL)
		recording_note(control->recording, strdup(line != NULL ? line : plain));
	free(line);
}

void event_tell(struct control *control, enum run_log_level level, const char *kind,
                json_t *members, const char *format, ...)
{
	char sentence[SENTENCE_BYTES];
	va_list arguments;

	assert(event_log_is_kind(kind, strlen(kind)));
	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	/* An event is one line. */
	for (char *c = sentence; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7F)
			*c = '?';
	log_line(level, kind, members, sentence);
	pthread_mutex_lock(&control->events_lock);
	if (control->flight != NULL)
		flight_dumps_event(control->flight, kind);
	if (control->events != NULL)
		add(control, kind, members, sentence);
	pthread_mutex_unlock(&control->events_lock);
	json_decref(members);
}

/* ---- kinds ---- */

void event_started(struct control *control)
{
	const struct scenario *scenario = *control->scenario;

	event_tell(control, RUN_LOG_INFO, "started",
	           json_pack("{s:s,s:s,s:I,s:o,s:I,s:I}", "weir", WEIR_VERSION, "run", control->run,
	                     "pid", (json_int_t)getpid(), "seed", json_seed(scenario->seed),
	                     "ports", (json_int_t)scenario->n_ports, "clouds",
	                     (json_int_t)scenario->n_clouds),
	           "weir %s, pid %d, seed %" PRIu64 ", %s, %s", WEIR_VERSION, (int)getpid(),
	           scenario->seed, count_of(scenario->n_ports, "port").text,
	           count_of(scenario->n_clouds, "cloud").text);
}

void event_stopped(struct control *control, enum run_log_level level, const char *why)
{
	event_tell(control, level, "stopped", json_pack("{s:s}", "why", why), "weir ends: %s", why);
}

void event_of_runtime(void *argument, const struct runtime_event *event)
{
	struct control *control = argument;
	const struct scenario *scenario = *control->scenario;
	const char *port =
	        event->index < scenario->n_ports ? scenario->ports[event->index].name : "";
	struct worker_report worker = {.role = ""};

	switch (event->kind) {
	case RUNTIME_LINK:
		event_tell(control, runtime_event_level(event), "link",
		           json_pack("{s:s,s:b}", "port", port, "up", event->up), "%s",
		           event->line);
		return;
	case RUNTIME_INTERFACE:
		event_tell(control, runtime_event_level(event), "interface",
		           json_pack("{s:s,s:b,s:I}", "port", port, "there", event->up, "gone_ns",
		                     (json_int_t)event->for_ns),
		           "%s", event->line);
		return;
	case RUNTIME_REMARK:
	case RUNTIME_OBSTACLE:
		event_tell(control, runtime_event_level(event), "remark",
		           json_pack("{s:s}", "port", port), "%s", event->line);
		return;
	case RUNTIME_STALL:
	case RUNTIME_STALL_END:
		control->ops->worker(control->context, event->index, &worker);
		event_tell(control, runtime_event_level(event),
		           event->kind == RUNTIME_STALL ? "stall" : "stall-end",
		           json_pack("{s:i,s:s,s:i,s:I}", "worker", (int)event->index, "role",
		                     worker.role, "cpu", (int)worker.cpu, "for_ns",
		                     (json_int_t)event->for_ns),
		           "%s", event->line);
		return;
	}
}
