/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dumps a flight (record/flight.h): at an event of the requested kinds, at SIGUSR1, and when a
 * worker crashes. Each dump is a recording in a folder of its own, DIR-DATE.
 *
 * An incident is seldom one event: after a dump that an event has caused, no event causes another
 * for ten seconds. Events cause FLIGHT_DUMPS_MAX in a run at most, so that they do not fill the
 * disk. A dump that a person requests is not limited.
 *
 * Thread: main, but flight_dumps_event: any, with events_lock (control.h). Dumps are written in a
 * thread of their own, which ends before flight_dumps_free.
 */
#ifndef WEIR_FLIGHT_DUMPS_H
#define WEIR_FLIGHT_DUMPS_H

#include <limits.h>

#include "record/recording.h"

#define FLIGHT_DUMPS_MAX 16
#define FLIGHT_DUMPS_TO  "weir-flight"

struct control;
struct flight_dumps;

struct flight_wish {
	const char *on; /* kinds of events, separated by commas; NULL: real-loss,stall */
	const char *to; /* DIR; NULL: FLIGHT_DUMPS_TO */
};

/* From now on, a worker that crashes waits until the flight is dumped; then the process ends with
 * its signal. Returns NULL if there is no memory; then only recording_dump dumps. */
struct flight_dumps *flight_dumps_make(struct control *control, const struct flight_wish *wish);
/* Frees control->flight, if there is one. */
void flight_dumps_free(struct control *control);
/* To be called for each event: dumps if its kind was requested. */
void flight_dumps_event(struct flight_dumps *dumps, const char *kind);
/* To be called after SIGUSR1; control->flight may be NULL. */
void flight_dumps_signal(struct control *control);
/* Begins a dump that is due. */
void flight_dumps_poll(struct flight_dumps *dumps);
/* Dumps the flight into the folder `asked`, or if that is NULL, DIR-DATE, and gets the path. `why`,
 * unless NULL, is logged. Returns as recording_dump. May take long, and wait for the disk. Thread:
 * any. */
int flight_dumps_write(struct control *control, const char *asked, const char *why,
                       char folder[PATH_MAX], struct recording_dump *dump, struct problem *problem);
/* Formats `+1.5 s to +11.7 s: 4711 packets, 3.2 MB`. */
#define FLIGHT_TEXT_BYTES 320
void flight_dump_text(const struct recording_dump *dump, char text[FLIGHT_TEXT_BYTES]);

#endif
