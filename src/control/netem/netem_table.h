/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table that `distribution NAME` of a netem line means: the file NAME.dist, as tc finds it, in
 * $TC_LIB_DIR or where iproute2 is installed; a name with a `/` or ending in `.dist` is that file.
 *
 * Thread: control.
 */
#ifndef WEIR_NETEM_TABLE_H
#define WEIR_NETEM_TABLE_H

#include <stddef.h>

#include "text/language_error.h"

/* ` distribution table FILE`. 0, or -EINVAL or -ENOMEM with error, whose column is left alone. */
int netem_table_words(const char *name, char *words, size_t room, struct language_error *error);

#endif
