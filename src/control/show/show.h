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

#include "service/answer.h"
#include "service/control.h"

enum show_what {
	SHOW_CLOUD,     /* one, achieved since its last change; JSON: the object of the contract */
	SHOW_CLOUD_ALL, /* the same, achieved since counting began */
	SHOW_CLOUDS,    /* {"ok":true,"clouds":[...]} */
	SHOW_PATH,      /* {"ok":true,"path":[...]} of a cloud: show_feedback.h */
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
