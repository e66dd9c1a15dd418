/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event of a run, as the log has it (event_log.h):
 *
 *   {"event":"link","seq":17,"t_ns":..,"wall_ns":..,"port":"b","up":false,"text":..}
 *   event 17 2026-11-23T18:20:01.123456Z +12.345678901s link: port b: link down
 *
 * `t_ns` is virtual time, from the beginning of the run, at which control noticed it, and `wall_ns`
 * the same instant on the clock of the machine. Neither number nor t_ns decreases from one event to
 * the next. docs/control.md has the kinds and their members.
 *
 * What is told goes into the log of weir, too (run_log.h), with the kind as WEIR_EVENT, and each
 * member that is a text, an integer or a boolean under its name: WEIR_CLOUD, WEIR_REASON.
 *
 * Thread: control's.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <jansson.h>

#include "live/runtime.h"
#include "service/control.h"
#include "service/peer.h"

/* Adds one to the events, if they are kept, and a line of that level to the log. `members` (of a
 * JSON object, which passes; NULL: no memory) stand between wall_ns and the text. */
void event_tell(struct control *control, enum run_log_level level, const char *kind,
                json_t *members, const char *format, ...) __attribute__((format(printf, 5, 6)));

void event_started(struct control *control);
/* `why`: `SIGTERM`. */
void event_stopped(struct control *control, const char *why);
/* What the runtime's tick tells. */
void event_of_runtime(struct control *control, const struct runtime_event *event);
/* The recording has ended before its run; told once. */
void event_of_recording(struct control *control);
void event_cleared(struct control *control, const struct peer *who);

/* A change that has been posted. */
struct event_change {
	const struct peer *who;
	const char *how;           /* `line`, `batch`, `load`, `lease`, `revert` */
	const char *lines;         /* each ended by a 0, with its number ended by a 0 before it */
	size_t lines_n;            /* bytes of them */
	const char *const *clouds; /* of a whole scenario: the clouds that it changes */
	uint32_t n_clouds;
	uint64_t lease; /* its number; 0: none */
	uint64_t lease_ns;
};
void event_change(struct control *control, const struct event_change *change);

#endif
