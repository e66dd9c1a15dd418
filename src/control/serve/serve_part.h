/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the page, made from the files in page/ when weir is built. No part comes from
 * elsewhere.
 *
 * Thread: constant.
 */
#ifndef WEIR_SERVE_PART_H
#define WEIR_SERVE_PART_H

#include "text/embedded_text.h"

extern const struct embedded_text serve_texts[];

/* Returns the part at a path, and its type; NULL if there is none. */
const struct embedded_text *serve_part_find(const char *path, const char **type);

#endif
