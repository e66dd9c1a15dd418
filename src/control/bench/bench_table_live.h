/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the parts that measure a running weir with clients: reconf, soak. Thread: control. */
#ifndef WEIR_BENCH_TABLE_LIVE_H
#define WEIR_BENCH_TABLE_LIVE_H

#include <stdio.h>

#include <jansson.h>

void bench_table_live(FILE *out, const json_t *rows);

#endif
