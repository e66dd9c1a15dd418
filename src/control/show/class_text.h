/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The classes of a cloud in effect, for people: shares, and queues where none were given.
 *
 * Thread: control.
 */
#ifndef WEIR_CLASS_TEXT_H
#define WEIR_CLASS_TEXT_H

#include <stdio.h>

#include "scenario/scenario.h"

/* Prints a line for each class, behind `indent`; nothing if there are none. Reports weights that do
 * not sum to 1 and were normalised. */
void class_text_print(FILE *out, const char *indent, const struct cloud_conf *cloud);

#endif
