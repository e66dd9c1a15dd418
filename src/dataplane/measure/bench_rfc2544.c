/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_rfc2544.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_repeats_add(struct bench_repeats *repeats, double value)
{
	uint32_t at = repeats->n;

	if (at == BENCH_REPEATS_MAX)
		return;
	for (; at > 0 && repeats->value[at - 1] > value; at--)
		repeats->value[at] = repeats->value[at - 1];
	repeats->value[at] = value;
	repeats->n++;
}

double bench_repeats_at(const struct bench_repeats *repeats, double share)
{
	double rank = ceil(share * repeats->n);

	if (repeats->n == 0)
		return 0;
	return repeats->value[rank < 1 ? 0 : (uint32_t)rank - 1];
}

double bench_repeats_mean(const struct bench_repeats *repeats)
{
	double sum = 0;

	for (uint32_t i = 0; i < repeats->n; i++)
		sum += repeats->value[i];
	return repeats->n ? sum / repeats->n : 0;
}

double bench_repeats_deviation(const struct bench_repeats *repeats)
{
	double mean = bench_repeats_mean(repeats), sum = 0;

	for (uint32_t i = 0; i < repeats->n; i++)
		sum += (repeats->value[i] - mean) * (repeats->value[i] - mean);
	return repeats->n > 1 ? sqrt(sum / (repeats->n - 1)) : 0;
}

#define ALWAYS_DOUBT -1.0
#define FRAMES_LEAST 100 /* of a trial at a slow rate */

const struct rfc2544_conditions rfc2544_full = {
        .trial_s = 60,
        .searches = 10,
        .latency_s = 120,
        .latency_repeats = 20,
        .burst_repeats = 50,
        .burst_s = 2,
        .tolerance = 0.005,
};

struct course {
	struct rfc2544_tester *tester;
	const struct rfc2544_conditions *conditions;
	struct rfc2544_result *result;
	struct rfc2544_outcome outcome; /* of the last trial */
};

static double loss_of(const struct rfc2544_outcome *outcome)
{
	if (outcome->sent == 0 || outcome->received >= outcome->sent)
		return 0;
	return (double)(outcome->sent - outcome->received) / (double)outcome->sent;
}

/* Makes one trial that counts. A disturbed trial is repeated if it lost more than `tolerance`; if
 * `tolerance` is below 0, always. */
static int make_trial(struct course *course, double pps, uint64_t frames, double tolerance)
{
	struct rfc2544_trial trial = {course->result->frame_bytes, pps, frames};
	int rc = 0;

	for (int tries = 0; tries <= RFC2544_RETRIES; tries++) {
		memset(&course->outcome, 0, sizeof(course->outcome));
		rc = course->tester->trial(course->tester, &trial, &course->outcome);
		course->result->trials++;
		if (rc < 0 || !course->outcome.disturbed || loss_of(&course->outcome) <= tolerance)
			return rc;
	}
	course->result->disturbed++;
	return rc;
}

static int rate_trial(struct course *course, double pps, double seconds, double tolerance)
{
	double frames = pps * seconds;

	return make_trial(course, pps,
	                  frames < FRAMES_LEAST ? FRAMES_LEAST : (uint64_t)(frames + 0.5),
	                  tolerance);
}

/* Searches upward from a rate that is known to pass, in `rate`, or from 0. */
static int search(struct course *course, double most_pps, double tolerance,
                  struct rfc2544_rate *rate)
{
	double low = rate->pps, high = most_pps, step = most_pps * RFC2544_RESOLUTION;
	double at = most_pps;

	rate->trials = 0;
	if (low >= most_pps)
		return 0;
	while (high - low > step || at == most_pps) {
		int rc = rate_trial(course, at, course->conditions->trial_s, tolerance);
		double loss = loss_of(&course->outcome);

		if (rc < 0)
			return rc;
		rate->trials++;
		if (loss <= tolerance) {
			rate->pps = low = at;
			rate->loss = loss;
		} else {
			high = at;
		}
		if (low == most_pps)
			break;
		at = (low + high) / 2;
	}
	return 0;
}

int rfc2544_search(struct rfc2544_tester *tester, const struct rfc2544_conditions *conditions,
                   double most_pps, double tolerance, struct rfc2544_result *result,
                   struct rfc2544_rate *rate)
{
	struct course *course = calloc(1, sizeof(*course));
	int rc;

	if (!course)
		return -ENOMEM;
	course->tester = tester;
	course->conditions = conditions;
	course->result = result;
	*rate = (struct rfc2544_rate){0};
	rc = search(course, most_pps, tolerance, rate);
	free(course);
	return rc;
}

/* Searches several times. The search with the median rate counts. */
static int search_again(struct course *course, double tolerance, const struct rfc2544_rate *known,
                        struct rfc2544_rate *rate, struct bench_repeats *all)
{
	uint32_t n = course->conditions->searches ? course->conditions->searches : 1;
	struct rfc2544_rate each[BENCH_REPEATS_MAX];
	int rc = 0;

	n = n < BENCH_REPEATS_MAX ? n : BENCH_REPEATS_MAX;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		each[i] = *known;
		rc = search(course, course->result->offered_pps, tolerance, &each[i]);
		bench_repeats_add(all, each[i].pps);
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		if (each[i].pps == bench_repeats_at(all, 0.5))
			*rate = each[i];
	}
	return rc;
}

/* Finds the most that the tester can send: the medium's rate, or the rate that it reached when the
 * medium's was requested. */
static int find_offered(struct course *course)
{
	double line = course->conditions->line_pps;
	int rc = rate_trial(course, line, course->conditions->trial_s, 1);

	if (rc < 0)
		return rc;
	course->result->line_pps = line;
	course->result->offered_pps =
	        course->outcome.pps < line * (1 - RFC2544_RESOLUTION) ? course->outcome.pps : line;
	return 0;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Takes the figures of RFC 8219 from a trial. */
static void take_tagged(struct course *course)
{
	struct rfc2544_outcome *outcome = &course->outcome;
	const struct histogram *all = &outcome->latency_ns;
	struct rfc2544_result *result = course->result;
	uint32_t n = outcome->n_tagged;

	bench_repeats_add(&result->variation_ns,
	                  (double)(histogram_percentile(all, 999000) - all->min));
	if (n == 0)
		return;
	qsort(outcome->tagged_ns, n, sizeof(outcome->tagged_ns[0]), compare_ns);
	bench_repeats_add(&result->typical_ns, (double)outcome->tagged_ns[(n - 1) / 2]);
	bench_repeats_add(&result->worst_ns,
	                  (double)outcome->tagged_ns[(uint32_t)ceil(n * 0.999) - 1]);
}

static int measure_latency(struct course *course)
{
	const struct rfc2544_conditions *conditions = course->conditions;
	struct rfc2544_result *result = course->result;
	double sum = 0;
	uint32_t n = 0;

	/* At the throughput; if that is 0, at the rate with the tolerated loss; if that is 0, too,
	 * at a tenth of the greatest rate. */
	double pps = result->ndr.pps > 0   ? result->ndr.pps
	             : result->pdr.pps > 0 ? result->pdr.pps
	                                   : result->offered_pps / 10;

	for (uint32_t i = 0; i < conditions->latency_repeats; i++) {
		const struct histogram *h = &course->outcome.latency_ns;
		int rc = rate_trial(course, pps, conditions->latency_s, ALWAYS_DOUBT);

		if (rc < 0)
			return rc;
		if (h->count == 0)
			continue;
		histogram_merge(&result->latency_ns, h);
		take_tagged(course);
		sum += (double)h->sum / (double)h->count;
		n++;
	}
	result->latency_mean_ns = n ? sum / n : 0;
	return 0;
}

static int measure_loss(struct course *course)
{
	struct rfc2544_result *result = course->result;
	uint32_t without = 0;

	for (int i = 0; i < RFC2544_RATES && without < 2; i++) {
		struct rfc2544_loss_point *point = &result->points[result->n_points];
		int rc;

		point->share = (RFC2544_RATES - i) / (double)RFC2544_RATES;
		rc = rate_trial(course, result->offered_pps * point->share,
		                course->conditions->trial_s, 0);
		if (rc < 0)
			return rc;
		point->offered = course->outcome.pps;
		point->loss = loss_of(&course->outcome);
		without = point->loss == 0 ? without + 1 : 0;
		result->n_points++;
	}
	return 0;
}

/* Searches the longest burst of which nothing is lost, to a hundredth of itself. */
static int longest_burst(struct course *course, double most, double *frames)
{
	double low = 0, high = most, at = most;

	while (high - low > fmax(1, low / 100)) {
		int rc = make_trial(course, course->result->offered_pps, (uint64_t)at, 0);

		if (rc < 0)
			return rc;
		if (loss_of(&course->outcome) == 0)
			low = at;
		else
			high = at;
		if (low == most)
			break;
		at = floor((low + high) / 2);
	}
	*frames = low;
	return 0;
}

static int measure_bursts(struct course *course)
{
	const struct rfc2544_conditions *conditions = course->conditions;
	struct rfc2544_result *result = course->result;
	double share;

	result->burst_most = floor(result->offered_pps * conditions->burst_s);
	for (uint32_t i = 0; i < conditions->burst_repeats; i++) {
		double frames = 0;
		int rc = longest_burst(course, result->burst_most, &frames);

		if (rc < 0)
			return rc;
		bench_repeats_add(&result->burst_frames, frames);
	}
	/* RFC 9004, 5.4: less the frames that leave, at the throughput's rate, while the burst
	 * comes in. */
	share = result->offered_pps > 0 ? result->ndr.pps / result->offered_pps : 0;
	if (result->offered_pps > 0)
		result->implied_buffer_ns =
		        bench_repeats_mean(&result->burst_frames) / result->offered_pps * 1e9;
	result->corrected_buffer_ns = result->implied_buffer_ns * (1 - share);
	return 0;
}

int rfc2544_run(struct rfc2544_tester *tester, const struct rfc2544_conditions *conditions,
                uint32_t frame_bytes, struct rfc2544_result *result)
{
	struct course *course = calloc(1, sizeof(*course));
	int rc;

	if (!course)
		return -ENOMEM;
	memset(result, 0, sizeof(*result));
	result->frame_bytes = frame_bytes;
	course->tester = tester;
	course->conditions = conditions;
	course->result = result;
	rc = find_offered(course);
	if (rc == 0)
		rc = search_again(course, 0, &(struct rfc2544_rate){.pps = 0}, &result->ndr,
		                  &result->ndr_pps);
	/* A rate without loss also passes with the tolerated loss. */
	result->pdr = result->ndr;
	if (rc == 0)
		rc = search_again(course, conditions->tolerance, &result->ndr, &result->pdr,
		                  &result->pdr_pps);
	if (rc == 0)
		rc = measure_latency(course);
	if (rc == 0)
		rc = measure_loss(course);
	if (rc == 0)
		rc = measure_bursts(course);
	free(course);
	return rc;
}

int bench_latency_measure(struct rfc2544_tester *tester, uint32_t frame_bytes, double line_bps,
                          double cable_m, double seconds, struct bench_latency *result)
{
	const struct rfc2544_trial trial = {frame_bytes, BENCH_LATENCY_PPS,
	                                    (uint64_t)(BENCH_LATENCY_PPS * seconds) + 1};
	struct rfc2544_outcome *outcome = calloc(1, sizeof(*outcome));
	double loop, rest;
	int rc;

	if (!outcome)
		return -ENOMEM;
	rc = tester->trial(tester, &trial, outcome);
	memset(result, 0, sizeof(*result));
	result->frame_bytes = frame_bytes;
	result->sent = outcome->sent;
	result->received = outcome->received;
	result->disturbed = outcome->disturbed;
	result->loop_ns = outcome->latency_ns;
	free(outcome);
	if (rc == 0 && result->received != result->sent)
		rc = -EIO;
	if (line_bps > 0)
		result->wire_ns = (frame_bytes + BENCH_LATENCY_PREAMBLE) * 8e9 / line_bps;
	result->cable_ns = cable_m * BENCH_LATENCY_METRE_NS;
	loop = (double)histogram_percentile(&result->loop_ns, 500000);
	rest = loop - result->wire_ns - result->cable_ns;
	result->sum_ns = rest > 0 ? (uint64_t)(rest + 0.5) : 0;
	result->half_ns = result->sum_ns / 2;
	return rc;
}
