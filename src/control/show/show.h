/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a running weir, for a person (aligned text with units, emulated and real drops
 * apart, what is configured beside what was achieved, and warnings) or for a program (JSON).
 *
 * Thread: control.
 */
#ifndef WEIR_SHOW_H
#define WEIR_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "engine/engine_report.h"
#include "service/answer.h"
#include "service/control.h"

enum show_what {
	SHOW_CLOUD,     /* one, achieved since its last change; JSON: the object of the contract */
	SHOW_CLOUD_ALL, /* the same, achieved since counting began */
	SHOW_CLOUDS,    /* {"ok":true,"clouds":[...]} */
	SHOW_PATH,      /* {"ok":true,"path":[...]} of a cloud */
	SHOW_CONFIG,    /* {"ok":true,"config":TEXT}: a file that can be loaded again */
	SHOW_PORTS,     /* {"ok":true,"ports":[...]} */
	SHOW_WORKERS,   /* {"ok":true,"workers":[...]} */
	SHOW_TOTALS,    /* json.h */
};

/* Prints the answer in the mode of the output. `cloud`: the index in the scenario, for SHOW_CLOUD,
 * SHOW_CLOUD_ALL and SHOW_PATH; for SHOW_TOTALS the number of clouds, 0: the default. `address`,
 * for SHOW_CLOUD_ALL: that cloud of the template; or NULL. `late`: the workers that have not taken
 * the last change yet, or ""; SHOW_CONFIG prints them first, as a comment. Returns false if the
 * template has no cloud of that address (yet); then nothing was answered. */
bool show_answer(struct output *output, struct control *control, enum show_what what,
                 uint32_t cloud, const char *address, const char *late);

/* ---- show_feedback.c ---- */

/*
 * What a cloud's meter reads, and the answers of routers that its proxy has received
 * (emulation/account/observed.h): as text, and as JSON.
 *
 *   "meter": {"window_ns":100000000,"from_ns":0,"measured":true,
 *             "link_bps":10000000,"available_bps":...,
 *             "sent_bps":...,"utilisation":0.5,"loss":0.001,"error":0.0,
 *             "queue":{"packets":1.25,"max":4},"delay_ns":...}
 *   "xcp": {"capacity_bps":...,"input_bps":...,"aggregate_bps":...,
 *           "positive_bps":...,"negative_bps":...,
 *           "queue_bytes":...,"rtt_ns":...,"interval_ns":...}
 *   "path": [{"hop":1,"ttl":64,"link_kbps":...,"available_kbps":...,
 *             "loss":...,"error":...,"queue_packets":...,
 *             "delay_us":...,"age_ns":...}, ...]
 *
 * A number that a router has not answered, or that has no limit, is null. The age is that of the
 * oldest answer in the row: until now (control_cloud), in a replay until the latest packet of the
 * proxy.
 */
void show_meter_text(FILE *out, const struct meter_reading *reading);
void show_xcp_text(FILE *out, const struct xcp_reading *reading);
/* Prints `show path` for the cloud of this index. */
void show_path_text(FILE *out, struct control *control, uint32_t cloud);

/* Prints the table of the routers that have answered; there must be at least one. */
void show_path_table(FILE *out, const struct observed *observed);

json_t *json_meter(const struct meter_reading *reading);
json_t *json_xcp(const struct xcp_reading *reading);
json_t *json_path(const struct observed *observed);

/* ---- text: show_cloud.c ---- */

/* Prints a cloud, or, if `address` is not NULL, that cloud of the template. `all`: view.h. */
void show_cloud_text(FILE *out, struct control *control, uint32_t cloud, const char *address,
                     bool all);
void show_clouds_text(FILE *out, struct control *control);
/* Prints a line for each class of a cloud in effect, behind `indent`: shares, and queues where none
 * were given; nothing if there are none. Reports weights that do not sum to 1 and were
 * normalised. */
void class_text_print(FILE *out, const char *indent, const struct cloud_conf *cloud);

#endif
