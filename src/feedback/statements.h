/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of statements: every word that may follow the name of a cloud. Its order is the order
 * in which a packet passes the stages, and the order in which `show config` prints them. It is here
 * because feedback/ is the highest layer that adds rows.
 */
#ifndef WEIR_STATEMENTS_H
#define WEIR_STATEMENTS_H

#include "scenario/statement.h"

extern const struct statement *const statements[]; /* ended by NULL */

/* Returns the row, or NULL. A statement with variants needs one: `variant` NULL finds only a row
 * without variant. */
const struct statement *statement_find(const char *name, const char *variant);

#endif
