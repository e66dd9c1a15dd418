/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenarios that come with weir, by their names: `geo-satellite` is configs/geo-satellite.weir.
 * They are searched in `configs` of the working directory, beside the sources of this program, and
 * where they were installed. The beginning of a name is enough, from three letters on, if no other
 * scenario begins with it. Those of the folder `measured` have it in their name: `measured/geo`.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_NAME_H
#define WEIR_SCENARIO_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "scenario/field.h"
#include "scenario/scenario.h"
#include "text/language_error.h"
#include "text/word.h"

#define SCENARIO_PATH_BYTES (PATH_MAX + 2 * SCENARIO_NAME_BYTES)

/* Gets the path of the scenario with this name, or with the only name that begins so. Returns false
 * if there is none. */
bool scenario_name_find(const char *name, char *path, size_t room);
/* Tries all names as the nearest one. */
void scenario_name_nearest(struct nearest *nearest);
/* Prints all names, each with the first sentence of its file. */
void scenario_names_print(FILE *out);

/* The value of an option that names a scenario (options.h): a file as it is, or a name, which
 * becomes the path of its file. */
int scenario_name_take(const struct field *field, char *text, void *arguments,
                       struct language_error *error);

#endif
