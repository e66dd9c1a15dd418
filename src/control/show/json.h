/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clouds as JSON: the objects of a replay's report and of `show` on the control socket, which are
 * the same. Keys come in the order of the table of figures, and every drop reason has its key, zero
 * or not, so that a program can rely on them.
 *
 * Ownership: the objects returned are new references, owned by the caller. NULL: no memory.
 * Thread: pure functions, any.
 */
#ifndef WEIR_JSON_H
#define WEIR_JSON_H

#include <jansson.h>
#include <stdint.h>

struct cloud_conf;
struct cloud_report;

/* Returns {"cloud":"down","rx_packets":0,...,"queue":{...}}. `lateness_ns` is null. A live caller
 * sets it: json_object_set_new(o, "lateness_ns", figures_late(h)). */
json_t *json_cloud(const char *name, const struct cloud_report *report);
/* Returns what a cloud has achieved since `what` (`start`, `clear` or `change`), `for_ns` ago. */
json_t *json_since(const char *what, uint64_t for_ns, const struct cloud_conf *cloud,
                   const struct cloud_report *report);
/* Returns the seed in full: above 2^63 - 1 as a string. */
json_t *json_seed(uint64_t seed);

#endif
