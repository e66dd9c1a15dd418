/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures as JSON, and how JSON is read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include "bench/bench.h"
#include "machine/cpu_level.h"

static const struct {
	const char *key;
	uint32_t per_million;
} percentiles[] = {
        {"p50", 500000}, {"p90", 900000}, {"p99", 990000}, {"p99.9", 999000}, {"p99.99", 999900}};

/* Rounds to six digits: a measurement is not more accurate, and a file stays readable. */
static json_t *real(double value)
{
	char text[32];

	if (!isfinite(value))
		return json_real(0);
	snprintf(text, sizeof(text), "%.6g", value);
	return json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

static void put(json_t *row, const char *key, double value)
{
	json_object_set_new(row, key, real(value));
}

static void put_whole(json_t *row, const char *key, uint64_t value)
{
	json_object_set_new(row, key, json_integer((json_int_t)value));
}

/* Puts the median as KEY, and the range as KEY_min and KEY_max. */
static void put_spread(json_t *row, const char *key, const struct bench_spread *spread)
{
	char min[64], max[64];

	snprintf(min, sizeof(min), "%s_min", key);
	snprintf(max, sizeof(max), "%s_max", key);
	put(row, key, spread->median);
	put(row, min, spread->min);
	put(row, max, spread->max);
}

static void put_cost(json_t *row, const struct bench_cost *cost)
{
	double arrivals = cost->mpps.median + cost->dropped_mpps;

	put_spread(row, "mpps", &cost->mpps);
	put(row, "ns_per_packet", cost->ns_per_packet);
	put(row, "cycles_per_packet", cost->cycles_per_packet);
	put_spread(row, "ceiling_mpps", &cost->ceiling_mpps);
	put_spread(row, "ratio", &cost->ratio);
	put(row, "ns_above_ceiling", cost->above_ns.median);
	put(row, "gbps", cost->gbps);
	put(row, "dropped_mpps", cost->dropped_mpps);
	put(row, "ns_per_arrival", arrivals > 0 ? 1e3 / arrivals : 0);
	put_whole(row, "runs", cost->mpps.n);
	put(row, "taken", cost->taken.median);
	put_whole(row, "disturbed_runs", cost->disturbed);
	put_whole(row, "lost_packets", cost->lost);
	json_object_set_new(row, "mbufs_short", json_boolean(cost->mbufs_short));
	if (cost->flight_mpps > 0 || cost->flight_missed > 0) {
		put(row, "flight_mpps", cost->flight_mpps);
		put(row, "flight_missed", cost->flight_missed);
	}
}

static void put_frame(json_t *row, uint32_t frame_bytes)
{
	struct bench_frames frames;

	bench_frames_fill(&frames, frame_bytes);
	put(row, "frame_bytes", bench_frames_mean(&frames));
	json_object_set_new(row, "frames",
	                    frame_bytes ? json_sprintf("%u", frame_bytes) : json_string("IMIX"));
}

static void put_held(json_t *row, double packets, double bytes)
{
	put_whole(row, "in_flight_packets", (uint64_t)packets);
	put(row, "bytes_per_packet", packets > 0 ? bytes / packets : 0);
	put_whole(row, "memory_bytes", (uint64_t)bytes);
}

json_t *bench_json_cost(uint32_t frame_bytes, const struct bench_cost *cost)
{
	json_t *frame = json_object(), *held = json_object(), *figures = json_object();

	put_frame(frame, frame_bytes);
	put_held(held, cost->held_packets, cost->memory_bytes);
	put_cost(figures, cost);
	return json_pack("{s:o,s:o,s:o}", "frame", frame, "held", held, "cost", figures);
}

static json_t *distribution(const struct histogram *h)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		put_whole(object, percentiles[i].key,
		          histogram_percentile(h, percentiles[i].per_million));
	put_whole(object, "max", h->max);
	put_whole(object, "count", h->count);
	return object;
}

static json_t *lateness(const struct histogram *h, uint64_t early)
{
	json_t *object = distribution(h);

	put_whole(object, "early", early);
	return object;
}

/* Returns the buckets that are not empty, as [[from_ns, count], ...]. */
static json_t *buckets(const struct histogram *h)
{
	json_t *array = json_array();

	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		json_array_append_new(array,
		                      json_pack("[I,I]", (json_int_t)w.low, (json_int_t)w.count));
	return array;
}

json_t *bench_row_precision(const char *load, double pps, uint32_t frame_bytes, uint64_t delay_ns,
                            double seconds, const struct bench_precision *precision)
{
	json_t *row = json_pack("{s:s,s:s}", "part", "precision", "load", load);

	put(row, "load_mpps", pps / 1e6);
	put(row, "mpps", precision->pps / 1e6);
	put_frame(row, frame_bytes);
	put_whole(row, "delay_ns", delay_ns);
	put(row, "seconds", seconds);
	json_object_set_new(row, "lateness_ns",
	                    lateness(&precision->lateness_ns, precision->early));
	json_object_set_new(row, "calm_ns", lateness(&precision->calm_ns, precision->early));
	put_whole(row, "turns", precision->turns);
	put_whole(row, "calm_turns", precision->calm_turns);
	json_object_set_new(row, "noise_ns", lateness(&precision->noise.lateness_ns, 0));
	json_object_set_new(row, "through_ns", lateness(&precision->through_ns, precision->early));
	put_whole(row, "most_early_ns", precision->most_early_ns);
	put(row, "taken", precision->taken);
	put(row, "noise_taken", bench_noise_share(&precision->noise));
	put_whole(row, "noise_longest_ns", precision->noise.longest_ns);
	put_whole(row, "longest_poll_ns", precision->longest_poll_ns);
	put_whole(row, "offered_packets", precision->offered);
	put_whole(row, "missed_packets", precision->missed);
	put_whole(row, "lost_packets", precision->lost);
	put_held(row, precision->held_packets, precision->memory_bytes);
	json_object_set_new(row, "lateness_histogram", buckets(&precision->lateness_ns));
	json_object_set_new(row, "calm_histogram", buckets(&precision->calm_ns));
	json_object_set_new(row, "noise_histogram", buckets(&precision->noise.lateness_ns));
	return row;
}

json_t *bench_row_clock(double seconds, const struct bench_clock *clock)
{
	json_t *row = json_pack("{s:s}", "part", "clock");

	put(row, "seconds", seconds);
	put_whole(row, "interval_ns", BENCH_CLOCK_STEPS * BENCH_CLOCK_STEP_NS);
	json_object_set_new(row, "error_ns", distribution(&clock->interval_ns));
	json_object_set_new(row, "distance_ns", distribution(&clock->distance_ns));
	put_whole(row, "samples", clock->samples);
	put_whole(row, "disturbed_samples", clock->disturbed);
	json_object_set_new(row, "error_histogram", buckets(&clock->interval_ns));
	return row;
}

json_t *bench_json_window(const struct bench_window *window)
{
	json_t *object = json_pack("{s:o}", "lateness_ns", distribution(&window->lateness_ns));

	put(object, "seconds", window->seconds);
	put_whole(object, "offered_packets", window->offered);
	put_whole(object, "sent_packets", window->sent);
	put_whole(object, "emulated_drops", window->emulated);
	put_whole(object, "lost_packets", window->lost);
	put_whole(object, "missed_packets", window->missed);
	put_whole(object, "missed_away_packets", window->missed_preempted);
	put_whole(object, "late_packets", window->late);
	put_whole(object, "longest_poll_ns", window->longest_poll_ns);
	json_object_set_new(object, "own_lateness_ns", distribution(&window->own_lateness_ns));
	put_whole(object, "own_longest_poll_ns", window->own_longest_poll_ns);
	put(object, "taken", window->taken);
	return object;
}

static json_t *loss_points(const struct rfc2544_result *result)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < result->n_points; i++) {
		const struct rfc2544_loss_point *point = &result->points[i];
		json_t *object = json_object();

		put(object, "share", point->share);
		put(object, "offered_mpps", point->offered / 1e6);
		put(object, "loss", point->loss);
		json_array_append_new(array, object);
	}
	return array;
}

/* Adds `{mean, median, min, max, deviation, p1, p99, n}`, of values times `unit`. */
static void put_repeats(json_t *row, const char *key, const struct bench_repeats *repeats,
                        double unit)
{
	json_t *object = json_object();

	put(object, "mean", bench_repeats_mean(repeats) * unit);
	put(object, "median", bench_repeats_at(repeats, 0.5) * unit);
	put(object, "min", bench_repeats_at(repeats, 0) * unit);
	put(object, "max", bench_repeats_at(repeats, 1) * unit);
	put(object, "deviation", bench_repeats_deviation(repeats) * unit);
	put(object, "p1", bench_repeats_at(repeats, 0.01) * unit);
	put(object, "p99", bench_repeats_at(repeats, 0.99) * unit);
	put_whole(object, "n", repeats->n);
	json_object_set_new(row, key, object);
}

json_t *bench_row_rfc2544(const char *under_test, const struct rfc2544_conditions *conditions,
                          const struct rfc2544_result *result)
{
	json_t *row = json_pack("{s:s,s:s,s:o}", "part", "rfc2544", "under_test", under_test,
	                        "latency_ns", lateness(&result->latency_ns, 0));

	put_whole(row, "frame_bytes", result->frame_bytes);
	put(row, "line_mpps", result->line_pps / 1e6);
	put(row, "offered_mpps", result->offered_pps / 1e6);
	put(row, "throughput_mpps", result->ndr.pps / 1e6);
	put(row, "throughput_trials", result->ndr.trials);
	put(row, "pdr_mpps", result->pdr.pps / 1e6);
	put(row, "pdr_loss", result->pdr.loss);
	put(row, "pdr_tolerance", conditions->tolerance);
	put(row, "latency_mean_ns", result->latency_mean_ns);
	put_whole(row, "latency_min_ns", result->latency_ns.min);
	json_object_set_new(row, "loss", loss_points(result));
	put_repeats(row, "throughput", &result->ndr_pps, 1e-6);
	put_repeats(row, "pdr", &result->pdr_pps, 1e-6);
	put_repeats(row, "typical_latency_ns", &result->typical_ns, 1);
	put_repeats(row, "worst_case_latency_ns", &result->worst_ns, 1);
	put_repeats(row, "delay_variation_ns", &result->variation_ns, 1);
	put(row, "back_to_back_frames", bench_repeats_mean(&result->burst_frames));
	put_repeats(row, "back_to_back", &result->burst_frames, 1);
	put(row, "implied_buffer_ns", result->implied_buffer_ns);
	put(row, "corrected_buffer_ns", result->corrected_buffer_ns);
	put(row, "back_to_back_most", result->burst_most);
	put(row, "trial_seconds", conditions->trial_s);
	put(row, "latency_seconds", conditions->latency_s);
	put_whole(row, "latency_repeats", conditions->latency_repeats);
	put_whole(row, "back_to_back_repeats", conditions->burst_repeats);
	put_whole(row, "trials", result->trials);
	put_whole(row, "disturbed_trials", result->disturbed);
	return row;
}

json_t *bench_row_latency(const char *from, const char *to, double line_bps, double cable_m,
                          const struct bench_latency *latency)
{
	json_t *row = json_pack("{s:s,s:s,s:s}", "part", "latency", "from", from, "to", to);

	put_whole(row, "frame_bytes", latency->frame_bytes);
	json_object_set_new(row, "loop_ns", distribution(&latency->loop_ns));
	put(row, "line_bps", line_bps);
	put(row, "cable_m", cable_m);
	put(row, "wire_ns", latency->wire_ns);
	put(row, "cable_ns", latency->cable_ns);
	put_whole(row, "latency_ns", latency->sum_ns);
	put_whole(row, "tx_latency_ns", latency->half_ns);
	put_whole(row, "rx_latency_ns", latency->half_ns);
	put_whole(row, "frames", latency->received);
	json_object_set_new(row, "disturbed", json_boolean(latency->disturbed));
	return row;
}

json_t *bench_json_machine(const struct bench_machine *machine, double tsc_hz, bool hugepages,
                           const struct bench_conditions *conditions)
{
	json_t *object =
	        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b}", "weir",
	                  WEIR_VERSION, "dpdk", rte_version(), "compiler", __VERSION__, "cpu",
	                  machine->cpu, "kernel", machine->kernel, "hypervisor",
	                  machine->hypervisor, "clocksource", machine->clocksource, "isolated",
	                  machine->isolated, "nohz_full", machine->nohz_full, "governor",
	                  machine->governor, "siblings", machine->siblings, "tsc_invariant",
	                  machine->tsc_constant && machine->tsc_nonstop, "hugepages", hugepages);

	json_object_set_new(object, "built_for", json_string(cpu_level()));
	put_whole(object, "processors", machine->processors);
	put_whole(object, "core", machine->core);
	put_whole(object, "numa_nodes", machine->nodes);
	put(object, "tsc_hz", tsc_hz);
	put(object, "stolen", machine->stolen);
	put_whole(object, "memory_bytes", machine->memory_bytes);
	put_whole(object, "hugepages_free_bytes", machine->huge_free_bytes);
	if (conditions) {
		json_object_set_new(object, "layout",
		                    json_string(conditions->layout == LAYOUT_PIPELINE
		                                        ? "pipeline"
		                                        : "run-to-completion"));
		put_whole(object, "priority", (uint64_t)conditions->priority);
		put_whole(object, "runs", conditions->runs);
		put(object, "seconds", conditions->seconds);
		if (conditions->flight_ns > 0)
			put_whole(object, "flight_ns", conditions->flight_ns);
		if (conditions->flight_snap > 0)
			put_whole(object, "flight_snap_bytes", conditions->flight_snap);
	}
	return object;
}

double bench_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const char *bench_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}
