/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tests of RFC 2544 (S. Bradner, J. McQuaid, "Benchmarking Methodology for Network Interconnect
 * Devices", 1999), as searches over trials. A trial runs behind `struct rfc2544_tester`: two ports
 * (bench_tester.h), or in a unit test a simulated device.
 *
 *   throughput   26.1: the greatest rate at which no frame is lost (NDR), by binary search between
 *                0 and what can be offered; and the same with a tolerated share of loss (PDR)
 *   latency      26.2: at the throughput's rate; the mean over `latency_repeats` trials. Every
 *                frame carries its stamp where the RFC tags one, so percentiles come with it
 *   loss rate    26.3: at 100 %, 90 %, ... of the greatest rate, until two trials in a row are
 *                without loss
 *   back-to-back 26.4: the longest burst at the greatest rate of which no frame is lost, by binary
 *                search, `burst_repeats` times. RFC 9004 (A. Morton, 2021) computes the buffer from
 *                it: the duration of the burst, less what leaves meanwhile at the throughput's rate
 *
 * and of RFC 8219 (M. Georgescu, L. Pislaru, G. Lencse, 2017), from the latency trials. 7.2, of
 * RFC2544_TAGGED frames, evenly spread: the median (typical latency) and the 99.9th percentile
 * (worst case latency). 7.3.1, of all frames: the 99.9th percentile less the least (packet delay
 * variation). Each has its median and its 1st and 99th percentile over the trials.
 *
 * Deviations from the RFC, where configured shorter: lengths of trials and numbers of repeats are
 * arguments; rfc2544_full holds the RFC's. A trial with loss, or of latency, during which tester or
 * device lost the processor is repeated up to RFC2544_RETRIES times, and then counts as it is; the
 * result has the number of such trials.
 *
 * Thread: the caller's; depends on the tester's answers alone.
 */
#ifndef WEIR_BENCH_RFC2544_H
#define WEIR_BENCH_RFC2544_H

#include <stdbool.h>
#include <stdint.h>

#include "account/histogram.h"

/*
 * A figure that was measured several times, and its statistics.
 *
 * Thread: any; pure functions.
 */

#define BENCH_REPEATS_MAX 64

struct bench_repeats {
	uint32_t n;
	double value[BENCH_REPEATS_MAX]; /* ascending */
};

/* Adds a value. Values beyond BENCH_REPEATS_MAX are left out. */
void bench_repeats_add(struct bench_repeats *repeats, double value);
/* Returns a value by nearest rank: 0.5 the median, 0 the least, 1 the greatest; 0 if there is
 * none. */
double bench_repeats_at(const struct bench_repeats *repeats, double share);
double bench_repeats_mean(const struct bench_repeats *repeats);
/* Returns the standard deviation of the sample; 0 if there are fewer than two values. */
double bench_repeats_deviation(const struct bench_repeats *repeats);

#define RFC2544_RETRIES    4
#define RFC2544_RATES      10 /* of the frame loss rate test */
#define RFC2544_RESOLUTION 0.005
#define RFC2544_TAGGED     500

struct rfc2544_trial {
	uint32_t frame_bytes;
	double pps;
	uint64_t frames; /* how many to send */
};

struct rfc2544_outcome {
	uint64_t sent, received;
	double pps;     /* the rate that was reached */
	bool disturbed; /* something was taken away that may explain a loss */
	struct histogram latency_ns;
	/* of the frames that carry a tag */
	uint32_t n_tagged;
	uint64_t tagged_ns[RFC2544_TAGGED];
};

struct rfc2544_tester {
	/* Sends, waits for what is on the way, counts. Returns 0; -errno if the trial could not be
	 * made; -ENOBUFS if the sending device takes nothing. */
	int (*trial)(struct rfc2544_tester *tester, const struct rfc2544_trial *trial,
	             struct rfc2544_outcome *outcome);
};

struct rfc2544_conditions {
	double line_pps;   /* the medium's rate: the most that is offered */
	double trial_s;    /* of a trial of the searches */
	double latency_s;  /* of a latency trial */
	uint32_t searches; /* of the throughput, and of PDR; the median counts; 0: one */
	uint32_t latency_repeats, burst_repeats;
	double burst_s;   /* the longest burst */
	double tolerance; /* PDR: share of loss */
};

/* The RFC's own values: 60 s, 120 s, 20 repeats, 2 s bursts, 50 repeats; 10 searches. */
extern const struct rfc2544_conditions rfc2544_full;

struct rfc2544_rate {
	double pps;
	double loss; /* of the trial at that rate */
	uint32_t trials;
};

struct rfc2544_loss_point {
	double share;   /* of the greatest rate */
	double offered; /* pps, as sent */
	double loss;    /* share */
};

struct rfc2544_result {
	uint32_t frame_bytes;
	double line_pps;
	double offered_pps;                    /* the most that the tester could send */
	struct rfc2544_rate ndr, pdr;          /* the median of the searches */
	struct bench_repeats ndr_pps, pdr_pps; /* all of them */
	struct histogram latency_ns;           /* of all latency trials */
	double latency_mean_ns;                /* mean of the trials' means */
	struct bench_repeats typical_ns, worst_ns, variation_ns; /* RFC 8219 */
	uint32_t n_points;
	struct rfc2544_loss_point points[RFC2544_RATES];
	struct bench_repeats burst_frames;
	double implied_buffer_ns, corrected_buffer_ns; /* by RFC 9004 */
	double burst_most;                             /* the longest burst tried */
	uint32_t disturbed;                            /* disturbed trials that count */
	uint32_t trials;
};

/* Runs all four tests. Returns 0, or the tester's error. */
int rfc2544_run(struct rfc2544_tester *tester, const struct rfc2544_conditions *conditions,
                uint32_t frame_bytes, struct rfc2544_result *result);

/* Searches the greatest rate with a share of loss of `tolerance` at most, to RFC2544_RESOLUTION of
 * `most_pps`. The rate is 0 if even the slowest trial lost more. Returns 0, or -errno. */
int rfc2544_search(struct rfc2544_tester *tester, const struct rfc2544_conditions *conditions,
                   double most_pps, double tolerance, struct rfc2544_result *result,
                   struct rfc2544_rate *rate);

/*
 * Measures the latency that a device adds, over a loop: two ports joined by a cable; frames are
 * sent one at a time from one port and received at the other.
 *
 * Model. From the hand-over to the stamp after reception a frame takes
 *
 *   tx-latency of one port + time on the wire + 5 ns a metre of cable + rx-latency of the other
 *
 * The time on the wire (preamble, frame with FCS) and the cable's are known. The median of many
 * frames is taken for the loop's time: a frame whose receiver had lost the processor does not move
 * it. What remains is the sum of the two latencies. Only the sum can be measured: each gets half.
 * That is exact for packets between these two ports, whose sum is that of a loop: from a to b weir
 * subtracts rx-latency of a and tx-latency of b, the loop from b to a.
 *
 * Resolution: that of the histogram (histogram.h); the times of cable and wire are as exact as the
 * arguments.
 */

#define BENCH_LATENCY_PPS        10000.0 /* nothing queues at that rate */
#define BENCH_LATENCY_METRE_NS   5.0
#define BENCH_LATENCY_PREAMBLE   8       /* bytes */
#define BENCH_LATENCY_MAX_NS     1000000 /* maximum of each latency in `port` */
#define BENCH_LATENCY_CABLE_MOST 10000   /* metres */

struct bench_latency {
	uint32_t frame_bytes; /* with FCS */
	double wire_ns, cable_ns;
	uint64_t sent, received;
	bool disturbed;
	struct histogram loop_ns;
	uint64_t sum_ns;  /* both latencies; 0: the loop took no longer than wire and cable */
	uint64_t half_ns; /* half of it, for each */
};

/* Measures. If `line_bps` is 0, the time on the wire is not subtracted. Returns 0; -EIO if frames
 * were lost (`sent` and `received` have the numbers); or the tester's error. */
int bench_latency_measure(struct rfc2544_tester *tester, uint32_t frame_bytes, double line_bps,
                          double cable_m, double seconds, struct bench_latency *result);

#endif
