/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was measured, as tables for a person: made from the JSON rows (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_TABLE_H
#define WEIR_BENCH_TABLE_H

#include <stdio.h>

#include <jansson.h>

/* The whole document: {"machine":…,"rows":[…],"remarks":[…]}. */
void bench_table_print(FILE *out, const json_t *document);

#endif
