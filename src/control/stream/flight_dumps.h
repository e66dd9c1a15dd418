/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a flight (record/flight.h) is dumped: at an event of the kinds that were asked for, at
 * SIGUSR1, and when a worker crashes. Each dump is a recording in a folder of its own, DIR-DATE.
 *
 * An incident is seldom one event: after a dump that an event has caused, no event causes one for
 * ten seconds. Events cause FLIGHT_DUMPS_MAX in a run at most, so that they do not fill the disk. A
 * person who asks gets one in any case.
 *
 * Thread: control's. Dumps are written in a thread of the executor's.
 */
#ifndef WEIR_FLIGHT_DUMPS_H
#define WEIR_FLIGHT_DUMPS_H

#include <limits.h>

#include "record/recording.h"

#define FLIGHT_DUMPS_MAX 16

struct control;
struct flight_dumps;

struct flight_wish {
	const char *on; /* kinds of events, with commas between; NULL: real-loss,stall */
	const char *to; /* NULL: weir-flight */
};

/* A worker that crashes waits from now on until the flight is dumped, and then the process ends by
 * its signal. NULL: no memory, then none is dumped but by recording_dump. */
struct flight_dumps *flight_dumps_make(struct control *control, const struct flight_wish *wish);
/* Waits for nothing; NULL is allowed. */
void flight_dumps_free(struct flight_dumps *dumps);
/* An event of this kind has happened. */
void flight_dumps_event(struct flight_dumps *dumps, const char *kind);
/* SIGUSR1 has come; control->flight may be NULL. */
void flight_dumps_signal(struct control *control);
/* Begins what was asked for, and tells of what is written. */
void flight_dumps_poll(struct flight_dumps *dumps);
/* Where a dump goes, from the root on: the folder that is asked for, or, if that is NULL, DIR-DATE,
 * with a number behind it if that is there. */
void flight_dumps_folder(const struct flight_dumps *dumps, const char *asked,
                         char folder[PATH_MAX]);
/* `+1.5 s to +11.7 s: 4711 packets, 3 MB`. */
#define FLIGHT_TEXT_BYTES 200
void flight_dump_text(const struct recording_dump *dump, char text[FLIGHT_TEXT_BYTES]);

#endif
