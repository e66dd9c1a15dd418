/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a cloud at one moment, and its evaluation: what was achieved of what is configured,
 * and warnings for a person.
 *
 * Thread: control.
 */
#ifndef WEIR_VIEW_H
#define WEIR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine_report.h"
#include "service/control.h"

/* A template's name, a slash and the longest flow. */
#define VIEW_NAME_BYTES 160

/* The data on a cloud that is shown. */
struct view {
	const struct cloud_conf *conf;
	char name[VIEW_NAME_BYTES];  /* `down`, or `down/10.0.3.4` */
	struct cloud_report report;  /* since counting began */
	struct cloud_report since;   /* since its last change; if `all` as `report` */
	enum control_since began;    /* from where `since` counts; since_ns is when */
	enum control_since counting; /* from where `report` counts */
	uint64_t now_ns, since_ns;
	struct port_report port; /* the one that the cloud leads to */
	bool has_port;
	struct control_look look; /* counters at the last look */
	bool looked;
};

/* Gets the data of a cloud. `cloud`: index in the scenario; `address`: of one of a template's
 * clouds, or NULL. `all`: what was achieved since counting began, instead of since the last change;
 * the clouds of a template are always shown so. Returns false if there is no report of the
 * cloud. */
bool view_open(struct view *view, struct control *control, uint32_t cloud, const char *address,
               bool all);
/* Gets the counters at the last look, and makes this one the last. */
void view_look(struct view *view, struct control *control);
/* Formats `since the last change, 12 s ago`; without the time if not `ago`. `from`: view->began or
 * view->counting. */
#define VIEW_PERIOD_BYTES 112
void view_period(const struct view *view, enum control_since from, bool ago,
                 char text[VIEW_PERIOD_BYTES]);

/* Returns the bits a second of so many bytes between two instants. */
double view_bps(uint64_t bytes, uint64_t from_ns, uint64_t to_ns);
/* Formats what was achieved of one statement, in a sentence; "" if nothing is known. */
void view_achieved(const struct view *view, const struct conf *conf, char *text, size_t size);
/* Prints a line `warning: ...` for each of: real drops, lateness, a queue that is too small. */
void view_print_warnings(const struct view *view, FILE *out);

#endif
