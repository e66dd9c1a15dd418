/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control may read of a cloud, at any time, by its name. A template has one, and each of its
 * clouds has: `down/10.0.3.4` (template.h).
 *
 * Thread: any; a moment old.
 */
#ifndef WEIR_ENGINE_REPORT_H
#define WEIR_ENGINE_REPORT_H

#include "account/aqm_report.h"
#include "account/counters.h"
#include "account/histogram.h"
#include "account/observed.h"
#include "scenario/scenario.h"

struct engine;

struct cloud_report {
	/* of a template: how many clouds there are, and may be; the rest are sums over them, where
	 * sums mean anything, and means where not. Else 0. */
	uint32_t clouds, clouds_most;
	struct counters counters;
	uint64_t held_packets;
	uint64_t queue_packets, queue_bytes;
	double queue_average_bytes; /* of an AQM that keeps one; else the present length */
	struct aqm_report aqm;
	/* Of a line with a jitter: the packets that entered it since it was configured so, and the
	 * mean and standard deviation of their time on it, without that in a queue. */
	uint64_t line_packets;
	double line_mean_ns, line_deviation_ns;
	/* order keep: packets that would have overtaken, and how much longer they took together */
	uint64_t order_waits, order_waited_ns;
	struct histogram delay_ns;
	/* Of a line with a jitter, those times; a template has none. Else count 0, and then the
	 * rest says nothing. */
	struct histogram line_ns;
	struct observed observed; /* by its stages */
	/* of a link with classes, each */
	uint32_t n_classes;
	struct class_report {
		char name[SCENARIO_NAME_BYTES];
		struct queue_counters counters;
		uint64_t queue_packets, queue_bytes;
		double queue_average_bytes;
		struct aqm_report aqm;
	} classes[CLASSES_MAX];
};
/* False: no such cloud. */
bool engine_report(const struct engine *engine, const char *cloud, struct cloud_report *report);
/* Its counters and its queue alone, for who looks often; the rest of `report` stays as it was. */
bool engine_report_queue(const struct engine *engine, const char *cloud,
                         struct cloud_report *report);

/* What is cheap to read of a cloud, for who looks at all of them again and again. */
struct cloud_brief {
	struct counters counters;
	uint64_t held_packets, queue_packets, queue_bytes;
};
/* Of a cloud that is none of a template: it alone, at `from` 0. Of a template: up to n of its
 * clouds, from that one on; the last of all is the head, which takes what finds no cloud. Returns
 * how many it has filled in; fewer than n: there are no more. */
uint32_t engine_briefs(const struct engine *engine, const char *cloud, uint32_t from, uint32_t n,
                       struct cloud_brief *briefs);
/* The name of that one: `down`, `down/10.0.3.4`. False: there is none, or it is the head. */
bool engine_brief_name(const struct engine *engine, const char *cloud, uint32_t index, char *name,
                       size_t room);
/* Its delays since counting began; a template's clouds have one histogram together. */
bool engine_delays(const struct engine *engine, const char *cloud, struct histogram *delays);

#endif
