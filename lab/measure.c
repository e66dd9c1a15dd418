/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account/observed.h"
#include "engine/engine.h"
#include "engine/engine_report.h"

/* The frame of a quench, with the 14 bytes of Ethernet that hosts' packets do not count. The cloud
 * that generates it counts it as sent, but its link does not carry it. */
#define QUENCH_BYTES 70

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void moments_add(struct moments *moments, double value)
{
	double away = value - moments->mean;

	moments->n++;
	moments->mean += away / (double)moments->n;
	moments->square += away * (value - moments->mean);
}

static void moments_report(const struct moments *moments, const char *part, struct results *results)
{
	double sigma = moments->n ? sqrt(moments->square / (double)moments->n) : 0;

	results_add(results, part, "queue", moments->mean);
	results_add(results, part, "queue.sigma", sigma);
	results_add(results, part, "queue.cv", moments->mean > 0 ? sigma / moments->mean : 0);
}

/* Counts what the link could have sent since it was last counted. */
static void gauge_count(struct gauge *gauge, simtime now)
{
	if (gauge->rate_bps == OBSERVED_NO_LIMIT)
		gauge->no_limit |= now > gauge->since_ns;
	else
		gauge->able_work += (double)gauge->rate_bps * (double)(now - gauge->since_ns);
	gauge->since_ns = now;
}

/* Reads the rate of the link, and sets the timer for when it may change. The timer fires a
 * nanosecond later, when everything has happened at that instant. */
static void gauge_read_rate(struct gauge *gauge, simtime now)
{
	simtime next = engine_link_rate(gauge->engine, gauge->cloud, now, &gauge->rate_bps);

	if (next != SIMTIME_NEVER)
		timer_set(gauge->heap, &gauge->timer, next + 1);
}

static void rate_may_have_changed(void *argument, simtime now)
{
	struct gauge *gauge = argument;

	gauge_count(gauge, now - 1);
	gauge_read_rate(gauge, now - 1);
}

int gauge_open(struct gauge *gauge, const struct cloud_conf *cloud,
               const struct cloud_conf *opposite, struct engine *engine, struct heap *heap)
{
	*gauge = (struct gauge){
	        .cloud = cloud->name,
	        .opposite = opposite ? opposite->name : NULL,
	        .engine = engine,
	        .heap = heap,
	        .timer = {.fire = rate_may_have_changed, .argument = gauge},
	};
	if (heap_announce(heap) < 0)
		return -ENOMEM;
	gauge_read_rate(gauge, 0);
	return 0;
}

void gauge_close(struct gauge *gauge)
{
	if (gauge->heap)
		timer_clear(gauge->heap, &gauge->timer);
}

void gauge_mark(struct gauge *gauge, simtime now)
{
	struct cloud_report report;

	if (engine_report_queue(gauge->engine, gauge->cloud, &report))
		gauge->mark = report.counters;
	if (gauge->opposite && engine_report_queue(gauge->engine, gauge->opposite, &report))
		gauge->opposite_mark = report.counters;
	gauge->since_ns = now;
	gauge->able_work = 0;
	gauge->no_limit = false;
}

void gauge_sample(struct gauge *gauge, bool counts)
{
	struct cloud_report report;

	if (!engine_report_queue(gauge->engine, gauge->cloud, &report))
		return;
	gauge->queue_bytes = (double)report.queue_bytes;
	gauge->average_bytes = report.queue_average_bytes;
	if (!counts)
		return;
	moments_add(&gauge->queue, gauge->queue_bytes);
	moments_add(&gauge->average, gauge->average_bytes);
	gauge->average_max = fmax(gauge->average_max, gauge->average_bytes);
	gauge->n_classes = report.n_classes;
	for (uint32_t i = 0; i < report.n_classes; i++)
		moments_add(&gauge->classes[i], (double)report.classes[i].queue_bytes);
}

void gauge_report(struct gauge *gauge, simtime now_ns, struct results *results)
{
	double arrived, dropped, marked, quenches;
	struct cloud_report now, opposite;

	if (!engine_report_queue(gauge->engine, gauge->cloud, &now))
		return;
	arrived = (double)(now.counters.rx_packets - gauge->mark.rx_packets);
	dropped = (double)(counters_drops(&now.counters) - counters_drops(&gauge->mark));
	marked = (double)(now.counters.ecn_marked - gauge->mark.ecn_marked);
	quenches = (double)(now.counters.becn_sent - gauge->mark.becn_sent);
	results_add(results, gauge->cloud, "arrived", arrived);
	results_add(results, gauge->cloud, "dropped", dropped);
	results_add(results, gauge->cloud, "marked", marked);
	results_add(results, gauge->cloud, "quenches", quenches);
	results_add(results, gauge->cloud, "loss", percent(dropped, arrived));
	results_add(results, gauge->cloud, "marking", percent(marked, arrived));
	if (gauge->opposite && engine_report_queue(gauge->engine, gauge->opposite, &opposite))
		results_add(
		        results, gauge->cloud, "isq",
		        percent(quenches, quenches + (double)(opposite.counters.tx_packets -
		                                              gauge->opposite_mark.tx_packets)));
	gauge_count(gauge, now_ns);
	if (!gauge->no_limit)
		results_add(results, gauge->cloud, "utilisation",
		            percent(8e9 * ((double)(now.counters.tx_bytes - gauge->mark.tx_bytes) -
		                           QUENCH_BYTES * quenches),
		                    gauge->able_work));
	moments_report(&gauge->queue, gauge->cloud, results);
	results_add(results, gauge->cloud, "average", gauge->average.mean);
	results_add(results, gauge->cloud, "average.max", gauge->average_max);
	for (uint32_t i = 0; i < gauge->n_classes; i++) {
		char part[RESULT_NAME_BYTES];

		snprintf(part, sizeof(part), "%s.%s", gauge->cloud, now.classes[i].name);
		moments_report(&gauge->classes[i], part, results);
	}
}

/* ---- flows ---- */

double shares_fairness(const struct shares *shares)
{
	if (shares->squares <= 0)
		return 0;
	return shares->sum * shares->sum / ((double)shares->n * shares->squares);
}

static void shares_add(struct shares *shares, double share)
{
	shares->sum += share;
	shares->squares += share * share;
	shares->n++;
}

void flow_mark(struct flow_mark *mark, const struct flow *flow)
{
	mark->tcp = flow->tcp.counters;
	mark->sink = flow->sink.counters;
}

void group_add(struct group_sums *sums, const struct flow_mark *mark, const struct flow *flow,
               struct shares *all)
{
	const struct tcp_counters *tcp = &flow->tcp.counters;
	const struct sink_counters *sink = &flow->sink.counters;
	double in_order = (double)(sink->in_order - mark->sink.in_order);

	shares_add(&sums->shares, in_order);
	shares_add(all, in_order * sums->packet_bytes);
	sums->sent += (double)(tcp->sent - mark->tcp.sent);
	sums->resent += (double)(tcp->resent - mark->tcp.resent);
	sums->timeouts += (double)(tcp->timeouts - mark->tcp.timeouts);
	sums->quenches += (double)(tcp->quenches - mark->tcp.quenches);
	sums->arrived += (double)(sink->arrived - mark->sink.arrived);
	sums->marked += (double)(sink->marked - mark->sink.marked);
	sums->windows += flow->tcp.cwnd;
}

uint32_t loss_reserve(struct results *results, const char *name)
{
	results_add(results, name, "loss", 0);
	return results->n - 1;
}

void loss_report(struct results *results, uint32_t at, double sent, double arrived)
{
	results->list[at].value = percent(sent - arrived, sent);
}

uint32_t group_report(const struct group_sums *sums, const char *name, simtime span_ns,
                      struct results *results)
{
	uint32_t loss;

	results_add(results, name, "goodput",
	            8e3 * sums->shares.sum * sums->packet_bytes / (double)span_ns);
	results_add(results, name, "flows", (double)sums->shares.n);
	results_add(results, name, "sent", sums->sent);
	results_add(results, name, "resent", sums->resent);
	results_add(results, name, "timeouts", sums->timeouts);
	results_add(results, name, "quenches", sums->quenches);
	loss = loss_reserve(results, name);
	results_add(results, name, "marking", percent(sums->marked, sums->arrived));
	results_add(results, name, "window",
	            sums->shares.n ? sums->windows / (double)sums->shares.n : 0);
	results_add(results, name, "fairness", shares_fairness(&sums->shares));
	return loss;
}
