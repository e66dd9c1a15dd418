/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clouds as JSON: the objects of a replay's report and of `show` on the control socket, which are
 * the same. Keys come in the order of the table of figures, and every drop reason has its key, zero
 * or not, so that a program can rely on them. And all counters at once.
 *
 * Ownership: the objects returned are new references, owned by the caller. NULL: no memory.
 * Thread: any; of totals_object, while nothing is changed (control_look_begin).
 */
#ifndef WEIR_JSON_H
#define WEIR_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "service/control.h"

struct cloud_report;

/* Returns {"cloud":"down","rx_packets":0,...,"queue":{...}}. `lateness_ns` is null. A live caller
 * sets it: json_object_set_new(o, "lateness_ns", figures_late(h)). */
json_t *json_cloud(const char *name, const struct cloud_report *report);
/* Return what `show ports` and `show workers` contain; `whole`: histograms, not percentiles. */
json_t *json_ports(struct control *control, bool whole);
json_t *json_workers(struct control *control);
/* Returns the seed in full: above 2^63 - 1 as a string. */
json_t *json_seed(uint64_t seed);

/*
 * All counters of weir, as totals since counting began, in one object: for clients that compute the
 * differences themselves, such as Prometheus.
 *
 *   {"ok":true,"run":..,"t_ns":..,"ports":[..],"workers":[..],"clouds":[..],"clouds_in_all":N,
 *    "rest":{..}}
 *
 * A port, a worker and a cloud are as in `show ports`, `show workers` and `show cloud`, but with
 * whole histograms: {"count":N,"sum_ns":..,"buckets":[[TOP,N],..]}, where N values are at most TOP
 * ns, and more than the TOP before; buckets without values are left out. `count` is the sum over
 * the buckets, even while workers go on counting.
 *
 * Bounded: the first TOTALS_CLOUDS clouds of the scenario, or as many as requested; a template is
 * one. `rest` has the sums over the others, without delays, so all counts are complete.
 */

#define TOTALS_CLOUDS      256
#define TOTALS_CLOUDS_MOST 4096

/* Returns the totals, with `clouds` clouds at most, 1 to TOTALS_CLOUDS_MOST; 0: TOTALS_CLOUDS.
 * Returns NULL if there is no memory. */
json_t *totals_object(struct control *control, uint64_t clouds);

#endif
