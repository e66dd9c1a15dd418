/* SPDX-License-Identifier: BSD-3-Clause */
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
 *
 * Thread: any, while nothing is changed (control_look_begin).
 */
#ifndef WEIR_TOTALS_H
#define WEIR_TOTALS_H

#include <jansson.h>

#include "service/control.h"

#define TOTALS_CLOUDS      256
#define TOTALS_CLOUDS_MOST 4096

/* Returns the totals, with `clouds` clouds at most, 1 to TOTALS_CLOUDS_MOST; 0: TOTALS_CLOUDS.
 * Returns NULL if there is no memory. */
json_t *totals_object(struct control *control, uint64_t clouds);

#endif
