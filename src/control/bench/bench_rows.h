/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results as JSON: the rows of `weir bench -j`. Code that prints, draws or compares results
 * works on these rows, so that what it shows is what the file says.
 *
 * Every row has `part`. Keys by part: docs/bench.md.
 *
 * Ownership: new references, the caller's. Functions return NULL if there is no memory.
 * Thread: any.
 */
#ifndef WEIR_BENCH_ROWS_H
#define WEIR_BENCH_ROWS_H

#include <jansson.h>

#include "measure/bench_clock.h"
#include "measure/bench_cost.h"
#include "measure/bench_machine.h"
#include "measure/bench_precision.h"
#include "measure/bench_rfc2544.h"

struct bench_window;

json_t *bench_row_cost(const char *scenario, const char *ports, uint32_t frame_bytes,
                       const struct bench_cost *cost);
/* `depth`: the intended number of packets in flight; `first_ns`: cost in the first row of the part,
 * to which `relative` refers. */
json_t *bench_row_depth(double depth, const struct bench_cost *cost, double first_ns,
                        uint64_t delay_ns);
json_t *bench_row_clouds(uint32_t clouds, const struct bench_cost *cost, double first_ns);
json_t *bench_row_precision(const char *load, double pps, uint32_t frame_bytes, uint64_t delay_ns,
                            double seconds, const struct bench_precision *precision);
json_t *bench_row_clock(double seconds, const struct bench_clock *clock);
json_t *bench_row_rfc2544(const char *under_test, const struct rfc2544_conditions *conditions,
                          const struct rfc2544_result *result);
json_t *bench_row_latency(const char *from, const char *to, double line_bps, double cable_m,
                          const struct bench_latency *latency);
/* Returns what happened in a window of a rig that runs. */
json_t *bench_json_window(const struct bench_window *window);
json_t *bench_json_machine(const struct bench_machine *machine, double tsc_hz, bool hugepages,
                           const struct bench_conditions *conditions);

/* Returns a number of a row, or 0 if the key is missing. */
double bench_number(const json_t *row, const char *key);
const char *bench_text(const json_t *row, const char *key); /* "" if it is missing */
bool bench_is(const json_t *row, const char *part);

#endif
