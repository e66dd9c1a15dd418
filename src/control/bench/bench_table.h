/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results as tables for people, made from the JSON rows (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_TABLE_H
#define WEIR_BENCH_TABLE_H

#include <stdio.h>

#include <jansson.h>

/* Prints the whole document: {"machine":…,"rows":[…],"remarks":[…]}. */
void bench_table_print(FILE *out, const json_t *document);

#endif
