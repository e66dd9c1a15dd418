/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts as JSON: the objects of a replay's report and of `show` on the control socket, which are
 * the same. Keys come in one order (tests/unit/test_show.c), and every drop reason has its key,
 * zero or not, so that a program can rely on them.
 *
 * Numbers are exact; a value that is not a whole number of its unit (an average) is a real.
 *
 * Ownership: the objects returned are new references, owned by the caller. NULL: no memory.
 * Thread: pure functions, any.
 */
#ifndef WEIR_JSON_H
#define WEIR_JSON_H

#include <jansson.h>

#include "engine/engine_report.h"
#include "offline/replay.h"

/* Returns {"cloud":"down","rx_packets":0,...,"queue":{...}}. `lateness_ns` is null. A live caller
 * sets it: json_object_set_new(o, "lateness_ns", late_json(h)), see late.h. */
json_t *json_cloud(const char *name, const struct cloud_report *report);
/* Returns {"min":0,"p50":0,"p99":0,"p99.9":0,"max":0}. */
json_t *json_histogram(const struct histogram *h);
/* Returns {"seed":…,"duration_ns":…,"clouds":[…],"ports":[…]}; a seed above 2^63 - 1 is a string.
 * If captures were split, also "splits":[{"capture":…,"rule":…,"ports":[…],"packets":[…]}]. */
json_t *json_replay(const struct scenario *scenario, const struct replay_result *result);

/* Returns the seed in full: above 2^63 - 1 as a string. */
json_t *json_seed(uint64_t seed);

/* Returns what a cloud has achieved since `what` (`start`, `clear` or `change`), `for_ns` ago. */
struct cloud_conf;
json_t *json_since(const char *what, uint64_t for_ns, const struct cloud_conf *cloud,
                   const struct cloud_report *report);

#endif
