/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that weir counts, as totals since counting began, in one object: for who keeps the
 * differences himself, as Prometheus does.
 *
 *   {"ok":true,"run":..,"t_ns":..,"ports":[..],"workers":[..],"clouds":[..],"clouds_in_all":N,
 *    "rest":{..}}
 *
 * A port, a worker and a cloud are as `show ports`, `show workers` and `show cloud` have them, with
 * histograms whole: {"count":N,"sum_ns":..,"buckets":[[TOP,N],..]}, where N values are at most TOP
 * ns, and more than the TOP before; buckets without values are left out. `count` is the sum over
 * the buckets, also while workers count on.
 *
 * Bounded: the first TOTALS_CLOUDS clouds of the scenario, or as many as are asked for; a template
 * is one. `rest` has the sums over the others, without delays; nothing is left out of the counts.
 *
 * Thread: any, while nothing is changed (control_look_begin).
 */
#ifndef WEIR_TOTALS_H
#define WEIR_TOTALS_H

#include <jansson.h>

#include "service/control.h"

#define TOTALS_CLOUDS      256
#define TOTALS_CLOUDS_MOST 4096

/* `clouds`: how many at most, 1 to TOTALS_CLOUDS_MOST; 0: TOTALS_CLOUDS. NULL: no memory. */
json_t *totals_object(struct control *control, uint64_t clouds);

#endif
