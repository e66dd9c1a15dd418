/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the classes of a cloud come to, for people: shares, and queues where none were given.
 *
 * Thread: control.
 */
#ifndef WEIR_CLASS_TEXT_H
#define WEIR_CLASS_TEXT_H

#include <stdio.h>

#include "scenario/scenario.h"

/* A line for each class, behind `indent`; nothing if there are none. Says so when weights do not
 * sum to 1 and were normalised. */
void class_text_print(FILE *out, const char *indent, const struct cloud_conf *cloud);

#endif
