/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the table for `distribution NAME` in a netem line, as tc does: the file NAME.dist, in
 * $TC_LIB_DIR or where iproute2 is installed. A name with a `/` or ending in `.dist` is the file
 * itself.
 *
 * Thread: control.
 */
#ifndef WEIR_NETEM_TABLE_H
#define WEIR_NETEM_TABLE_H

#include <stddef.h>

#include "text/language_error.h"

/* Gets ` distribution table FILE`. Returns 0, or -EINVAL or -ENOMEM with error, except its
 * column. */
int netem_table_words(const char *name, char *words, size_t room, struct language_error *error);

#endif
