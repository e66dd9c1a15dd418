/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the events of a run to the log (event_log.h):
 *
 *   {"event":"link","seq":17,"t_ns":..,"wall_ns":..,"port":"b","up":false,"text":..}
 *   event 17 2026-11-23T18:20:01.123456Z +12.345678901s link: port b: link down
 *
 * `t_ns` is the virtual time, from the beginning of the run, at which control noticed the event,
 * and `wall_ns` the same instant on the clock of the machine. Neither number nor t_ns decreases
 * from one event to the next. docs/control.md has the kinds and their members.
 *
 * An event is also written to the log of weir (run_log.h), with the kind as WEIR_EVENT, and each
 * member that is a text, an integer or a boolean under its name: WEIR_CLOUD, WEIR_REASON.
 *
 * Thread: any.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <jansson.h>

#include "live/runtime.h"
#include "service/control.h"
#include "service/peer.h"

/* Adds an event, if events are kept, and a line of that level to the log. `members` of a JSON
 * object (NULL: no memory) stand between wall_ns and the text. Ownership: takes `members`. */
void event_tell(struct control *control, enum run_log_level level, const char *kind,
                json_t *members, const char *format, ...) __attribute__((format(printf, 5, 6)));

void event_started(struct control *control);
/* `why`: such as `SIGTERM`. */
void event_stopped(struct control *control, enum run_log_level level, const char *why);
/* Adds an event that the runtime's tick reports. `control`: a struct control; for runtime_tick. */
void event_of_runtime(void *control, const struct runtime_event *event);

#define EVENT_CLOUDS_MAX 32 /* the most clouds that an event names */

#endif
