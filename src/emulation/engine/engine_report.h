/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control may read of a cloud, at any time, by the cloud's name. A template has a name, and
 * each of its clouds has one: `down/10.0.3.4` (template.h).
 *
 * Thread: any; a moment old.
 */
#ifndef WEIR_ENGINE_REPORT_H
#define WEIR_ENGINE_REPORT_H

#include "account/aqm_report.h"
#include "account/counters.h"
#include "account/histogram.h"
#include "account/observed.h"
#include "account/tally.h"
#include "scenario/scenario.h"

struct engine;

/* The fields of a cloud that are cheap to read, for reading all clouds again and again. */
struct cloud_brief {
	struct counters counters;
	uint64_t held_packets, queue_packets, queue_bytes;
};

struct cloud_report {
	struct counters counters; /* up to queue_bytes as in struct cloud_brief */
	uint64_t held_packets, queue_packets, queue_bytes;
	/* In a template: the number of its clouds, and the maximum; else both are 0. The other
	 * fields of a template are sums over its clouds, or means where a sum has no meaning. */
	uint32_t clouds, clouds_most;
	double queue_average_bytes; /* as the AQM computes it; else the present length */
	struct aqm_report aqm;
	/* Of a line with a jitter: packets that entered it since it was configured so, and the mean
	 * and standard deviation of their time on it, without time in a queue. */
	uint64_t line_packets;
	double line_mean_ns, line_deviation_ns;
	/* order keep: packets that would have overtaken, and by how much they were delayed in
	 * total */
	uint64_t order_waits, order_waited_ns;
	struct histogram delay_ns;
	/* Of a line with a jitter: these times; a template has none. Otherwise count is 0, and the
	 * other fields are undefined. */
	struct histogram line_ns;
	struct observed observed; /* by the stages */
	/* Of its statements, in the order of scenario/tallied.h; one cloud of a template has
	 * none. */
	uint32_t n_tallies;
	struct tally tallies[TALLIES_MAX];
	/* of each class, if the link has classes */
	uint32_t n_classes;
	struct class_report {
		char name[SCENARIO_NAME_BYTES];
		struct queue_counters counters;
		uint64_t queue_packets, queue_bytes;
		double queue_average_bytes;
		struct aqm_report aqm;
	} classes[CLASSES_MAX];
};
/* Fills in the report. Returns false if there is no such cloud. */
bool engine_report(const struct engine *engine, const char *cloud, struct cloud_report *report);
/* Fills in only the counters and the queue, for frequent calls; leaves the other fields of `report`
 * as they were. */
bool engine_report_queue(const struct engine *engine, const char *cloud,
                         struct cloud_report *report);

/* Reads the cloud, if it is not a template; `from` is 0. Of a template, reads up to n of its
 * clouds, beginning with number `from`; the last one is the head, which takes packets that find no
 * cloud. Returns how many briefs it has filled in; if fewer than n, there are no more clouds. */
uint32_t engine_briefs(const struct engine *engine, const char *cloud, uint32_t from, uint32_t n,
                       struct cloud_brief *briefs);
/* Writes the name of the cloud with this number: `down`, `down/10.0.3.4`. Returns false if there is
 * none, or if it is the head. */
bool engine_brief_name(const struct engine *engine, const char *cloud, uint32_t index, char *name,
                       size_t room);
/* Reads the cloud's delays since counting began; all clouds of a template share one histogram.
 * Returns false if there is no such cloud. */
bool engine_delays(const struct engine *engine, const char *cloud, struct histogram *delays);

#endif
