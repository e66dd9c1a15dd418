/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud as it is seen at one moment, and what that says: what was achieved of what is configured,
 * and what a person should be warned of.
 *
 * Thread: control's.
 */
#ifndef WEIR_VIEW_H
#define WEIR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine_report.h"
#include "service/control.h"

/* The template's name, a slash and the longest flow. */
#define VIEW_NAME_BYTES 160

/* What is known of a cloud when it is shown. */
struct view {
	const struct cloud_conf *conf;
	char name[VIEW_NAME_BYTES];  /* `down`, or `down/10.0.3.4` */
	struct cloud_report report;  /* since counting began */
	struct cloud_report since;   /* since its last change, if that is what is shown */
	enum control_since began;    /* what `since` counts from, and when */
	enum control_since counting; /* and the counters */
	uint64_t now_ns, since_ns;
	struct port_report port; /* the one it leads to */
	bool has_port;
	struct control_look look; /* counters at the last look */
	bool looked;
};

/* False: there is no report of this cloud. `cloud`: index in the scenario; `address`: of one of a
 * template's clouds, or NULL. `all`: what was achieved since counting began, and not since the last
 * change; so it is of one of a template's clouds. */
bool view_open(struct view *view, struct control *control, uint32_t cloud, const char *address,
               bool all);
/* `since the last change, 12 s ago`; `ago` false: without when. */
#define VIEW_PERIOD_BYTES 112
void view_period(const struct view *view, bool ago, char text[VIEW_PERIOD_BYTES]);
/* The same of all counters: `since the start`. */
void view_counted(const struct view *view, char text[VIEW_PERIOD_BYTES]);

uint64_t view_drops(const struct counters *counters, enum reason_kind kind);
/* `loss 1,204, queue-full 3` of one kind; "" when there are none. */
void view_drops_text(const struct counters *counters, enum reason_kind kind, char *text,
                     size_t size);
/* Bits a second of so many bytes between two instants. */
double view_bps(uint64_t bytes, uint64_t from_ns, uint64_t to_ns);
/* What was achieved of one statement, in a sentence; "" when nothing is known. */
void view_achieved(const struct view *view, const struct conf *conf, char *text, size_t size);
/* `warning: ...`, a line each: real drops, lateness, a queue that is too small. */
void view_print_warnings(const struct view *view, FILE *out);

#endif
