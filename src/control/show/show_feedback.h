/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud's meter reads, and the answers of routers that its proxy has received
 * (emulation/account/observed.h): as text, and as JSON.
 *
 *   "meter": {"window_ns":100000000,"from_ns":0,"measured":true,
 *             "link_bps":10000000,"available_bps":...,
 *             "sent_bps":...,"utilisation":0.5,"loss":0.001,"error":0.0,
 *             "queue":{"packets":1.25,"max":4},"delay_ns":...}
 *   "xcp": {"capacity_bps":...,"input_bps":...,"aggregate_bps":...,
 *           "positive_bps":...,"negative_bps":...,
 *           "queue_bytes":...,"rtt_ns":...,"interval_ns":...}
 *   "path": [{"hop":1,"ttl":64,"link_kbps":...,"available_kbps":...,
 *             "loss":...,"error":...,"queue_packets":...,
 *             "delay_us":...,"age_ns":...}, ...]
 *
 * A number that a router has not answered, or that has no limit, is null. The age is that of the
 * oldest answer in the row: until now (control_cloud), in a replay until the latest packet of the
 * proxy.
 *
 * Thread: control.
 */
#ifndef WEIR_SHOW_FEEDBACK_H
#define WEIR_SHOW_FEEDBACK_H

#include <stdio.h>

#include <jansson.h>

#include "engine/engine_report.h"
#include "service/control.h"

void show_meter_text(FILE *out, const struct meter_reading *reading);
void show_xcp_text(FILE *out, const struct xcp_reading *reading);
/* Prints `show path` for the cloud of this index. */
void show_path_text(FILE *out, struct control *control, uint32_t cloud);

/* Prints the table of the routers that have answered; there must be at least one. */
void show_path_table(FILE *out, const struct observed *observed);

json_t *json_meter(const struct meter_reading *reading);
json_t *json_xcp(const struct xcp_reading *reading);
json_t *json_path(const struct observed *observed);

#endif
