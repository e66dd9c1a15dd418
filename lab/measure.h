/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures clouds and flows, from a mark on: counters by difference, queues by samples at even
 * intervals. run.h lists the names.
 * Thread: the run's.
 */
#ifndef WEIR_LAB_MEASURE_H
#define WEIR_LAB_MEASURE_H

#include "account/counters.h"
#include "lab/flow.h"
#include "lab/results.h"

/* Mean and variance of values added one by one (Welford). */
struct moments {
	uint64_t n;
	double mean, square;
};

/* One cloud. */
struct gauge {
	const char *cloud, *opposite; /* opposite: the link's other direction, or NULL */
	struct engine *engine;
	struct heap *heap;
	struct timer timer; /* for the next point of the cloud's schedules */
	uint64_t rate_bps;  /* of the link, since `since_ns` (engine_link_rate) */
	simtime since_ns;
	double able_work; /* what the link could have sent since the mark, in bits x 10^9 */
	bool no_limit;    /* it had no rate for some time since then */
	struct counters mark, opposite_mark;
	double queue_bytes, average_bytes; /* at the latest sample */
	struct moments queue, average;
	double average_max;
	struct moments classes[CLASSES_MAX];
	uint32_t n_classes;
};

/* Opens the gauge at the beginning of the run. `opposite`: the cloud of the other direction, or
 * NULL. Returns 0 or -ENOMEM. */
int gauge_open(struct gauge *gauge, const struct cloud_conf *cloud,
               const struct cloud_conf *opposite, struct engine *engine, struct heap *heap);
void gauge_close(struct gauge *gauge);
/* Begins the measures. */
void gauge_mark(struct gauge *gauge, simtime now);
/* Samples the queue. `counts`: the sample counts in the measures. */
void gauge_sample(struct gauge *gauge, bool counts);
void gauge_report(struct gauge *gauge, simtime now, struct results *results);

/* The sums from which Jain's index is computed: (sum x)^2 / (n sum x^2). */
struct shares {
	double sum, squares;
	uint64_t n;
};
double shares_fairness(const struct shares *shares);

struct flow_mark {
	struct tcp_counters tcp;
	struct sink_counters sink;
};
void flow_mark(struct flow_mark *mark, const struct flow *flow);

struct group_sums {
	uint32_t packet_bytes;
	struct shares shares;
	double sent, resent, timeouts, quenches, arrived, marked, windows;
};
/* Adds a flow to the group's sums, and to those of all flows. */
void group_add(struct group_sums *sums, const struct flow_mark *mark, const struct flow *flow,
               struct shares *all);
/* Returns the place of the group's loss. */
uint32_t group_report(const struct group_sums *sums, const char *name, simtime span_ns,
                      struct results *results);

/* The loss of a group is known when what it has sent is no longer in flight. Reserves a place for
 * it, and returns that. */
uint32_t loss_reserve(struct results *results, const char *name);
/* `arrived`: of the packets sent. */
void loss_report(struct results *results, uint32_t at, double sent, double arrived);

#endif
