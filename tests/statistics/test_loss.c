/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss, a million packets each: the rate, and the lengths of losses and of the gaps between them.
 */
#include "statistics.h"
#include "runner/group.h"

#include <math.h>
#include <string.h>

/* A few bytes of each packet suffice: only its length on the wire matters. */
static struct trial *million(const char *statement, uint32_t wire_bytes)
{
	struct trial *trial = trial_open(statement, 20);

	trial->wire_bytes = wire_bytes;
	trial_send(trial, PACKETS, 16);
	return trial;
}

static void assert_rate(const char *statement, const struct trial *trial, double rate,
                        double variance)
{
	assert_share(statement, trial_count(trial, TRIAL_LOST), PACKETS, rate, variance);
}

static void assert_lost_runs(const char *statement, const struct trial *trial, double goes_on)
{
	static struct runs runs;

	runs_count(&runs, trial, TRIAL_LOST);
	assert_runs_geometric(statement, &runs, goes_on);
}

static void assert_gaps(const char *statement, const struct trial *trial, double goes_on)
{
	static struct runs runs;

	runs_count(&runs, trial, TRIAL_DELIVERED);
	assert_runs_geometric(statement, &runs, goes_on);
}

/* Independent packets: the number of losses is binomial; a run of losses continues with p, a gap
 * with 1 - p. */
static void random_loss_is_binomial_and_its_runs_are_geometric(void **state)
{
	static const struct {
		const char *statement;
		double p;
	} rows[] = {
	        {"loss random 0.1%", 0.001}, {"loss random 1%", 0.01},  {"loss random 10%", 0.1},
	        {"loss random 50%", 0.5},    {"loss random 99%", 0.99},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		double p = rows[i].p;

		assert_rate(rows[i].statement, trial, p, p * (1 - p));
		if (p >= 0.01)
			assert_lost_runs(rows[i].statement, trial, p);
		assert_gaps(rows[i].statement, trial, 1 - p);
		trial_close(trial);
	}
}

/* Correlation must not change the rate; netem's does (loss 1 % 25 % loses 0.0002 %). The indicator
 * is a two-state chain of autocorrelation r, so the variance of the mean is that of independent
 * packets times (1 + r) / (1 - r); its runs are independent and geometric. */
static void correlated_loss_keeps_its_rate_and_lengthens_its_runs(void **state)
{
	static const struct {
		const char *statement;
		double p, r;
	} rows[] = {
	        {"loss random 1% correlation 25%", 0.01, 0.25},
	        {"loss random 1% correlation 90%", 0.01, 0.9},
	        {"loss random 30% correlation 50%", 0.3, 0.5},
	        {"loss random 50% correlation 10%", 0.5, 0.1},
	        {"loss random 90% correlation 75%", 0.9, 0.75},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		double p = rows[i].p, r = rows[i].r;

		assert_rate(rows[i].statement, trial, p, p * (1 - p) * (1 + r) / (1 - r));
		assert_lost_runs(rows[i].statement, trial, p + r * (1 - p));
		assert_gaps(rows[i].statement, trial, 1 - p * (1 - r));
		trial_close(trial);
	}
}

/* Computes the share of each length of a run: bursts that directly follow each other are one run.
 *
 *   run(n) = sum over l of L(l) ((1 - P) [l = n] + P run(n - l)) */
static void run_shares(double share[RUN_MAX + 1], double p, uint32_t from, uint32_t to)
{
	double each = 1.0 / (to - from + 1);

	for (uint32_t n = 0; n <= RUN_MAX; n++) {
		share[n] = 0;
		for (uint32_t l = from; l <= to && l <= n; l++)
			share[n] += each * (l == n ? 1 - p : p * share[n - l]);
	}
}

/* A cycle is a gap of G packets and a burst of L, all independent, so that the number of losses is
 * a renewal reward process: its variance is Var(L - rate (G + L)) / E(G + L). */
static void bursts_have_the_rate_and_the_lengths_asked_for(void **state)
{
	static const struct {
		const char *statement;
		double p;
		uint32_t from, to;
	} rows[] = {
	        {"loss burst 0.1% length 2..16", 0.001, 2, 16},
	        {"loss burst 2% length 1..4", 0.02, 1, 4},
	        {"loss burst 5% length 3", 0.05, 3, 3},
	        {"loss burst 30% length 1..10", 0.3, 1, 10},
	};
	static double share[RUN_MAX + 1];
	static struct runs runs;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		double p = rows[i].p, width = rows[i].to - rows[i].from + 1;
		double mean = (rows[i].from + rows[i].to) / 2.0, gap = (1 - p) / p;
		double rate = p * mean / (1 - p + p * mean);
		double variance = ((1 - rate) * (1 - rate) * (width * width - 1) / 12 +
		                   rate * rate * (1 - p) / (p * p)) /
		                  (gap + mean);

		assert_rate(rows[i].statement, trial, rate, variance);
		run_shares(share, p, rows[i].from, rows[i].to);
		runs_count(&runs, trial, TRIAL_LOST);
		assert_runs(rows[i].statement, &runs, share);
		assert_gaps(rows[i].statement, trial, 1 - p);
		trial_close(trial);
	}
}

/* If the good state loses nothing, every run of losses begins in the bad state, so that runs are
 * independent, and continue with (1 - r) bad. If the bad state loses everything, gaps continue with
 * 1 - p. */
static void gilbert_elliott_has_its_rate_and_its_bursts(void **state)
{
	static const struct {
		const char *statement;
		double p, r, bad, good;
	} rows[] = {
	        {"loss gilbert-elliott p 1% r 10%", 0.01, 0.1, 1, 0},
	        {"loss gilbert-elliott p 0.1% r 50%", 0.001, 0.5, 1, 0},
	        {"loss gilbert-elliott p 20% r 30%", 0.2, 0.3, 1, 0},
	        {"loss gilbert-elliott p 1% r 10% bad 70%", 0.01, 0.1, 0.7, 0},
	        {"loss gilbert-elliott p 1% r 10% bad 70% good 0.1%", 0.01, 0.1, 0.7, 0.001},
	        {"loss gilbert-elliott p 5% r 5% bad 20% good 10%", 0.05, 0.05, 0.2, 0.1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		double p = rows[i].p, r = rows[i].r, bad = rows[i].bad, good = rows[i].good;
		struct chain chain = {
		        .n = 2, .move = {{1 - p, p}, {r, 1 - r}}, .lost = {good, bad}};

		chain_solve(&chain);
		assert_true(fabs(chain.rate - (good * r + bad * p) / (p + r)) < 1e-9);
		assert_rate(rows[i].statement, trial, chain.rate, chain.variance);
		if (good == 0)
			assert_lost_runs(rows[i].statement, trial, (1 - r) * bad);
		if (good == 0 && bad == 1)
			assert_gaps(rows[i].statement, trial, 1 - p);
		trial_close(trial);
	}
}

/* Without single losses (p14 = 0) all losses are in state 3: a run continues with 1 - p31 - p32.
 * Between two runs lies either a pause in state 2 (with p32 / (p31 + p32)), which continues with 1
 * - p23, or a gap in state 1, which continues with 1 - p13. */
static void four_states_have_their_rate_their_bursts_and_their_gaps(void **state)
{
	static const struct {
		const char *statement;
		double p13, p31, p32, p23, p14;
	} rows[] = {
	        {"loss four-state p13 1% p31 30%", 0.01, 0.3, 0, 1, 0},
	        {"loss four-state p13 2% p31 20% p32 10% p23 40%", 0.02, 0.2, 0.1, 0.4, 0},
	        {"loss four-state p13 5% p31 60% p32 40% p23 25%", 0.05, 0.6, 0.4, 0.25, 0},
	        {"loss four-state p13 1% p31 30% p32 20% p23 50% p14 0.5%", 0.01, 0.3, 0.2, 0.5,
	         0.005},
	        {"loss four-state p13 20% p31 50% p14 80%", 0.2, 0.5, 0, 1, 0.8},
	};
	static double share[RUN_MAX + 1];
	static struct runs runs;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		double p13 = rows[i].p13, p31 = rows[i].p31, p32 = rows[i].p32;
		double p23 = rows[i].p23, p14 = rows[i].p14;
		double s1 = 1 / (1 + p13 / p31 + p14 + p13 / p31 * p32 / p23);
		struct chain chain = {.n = 4,
		                      .move = {{1 - p13 - p14, 0, p13, p14},
		                               {0, 1 - p23, p23, 0},
		                               {p31, p32, 1 - p31 - p32, 0},
		                               {1, 0, 0, 0}},
		                      .lost = {0, 0, 1, 1}};

		chain_solve(&chain);
		assert_true(fabs(chain.rate - s1 * (p13 / p31 + p14)) < 1e-9);
		assert_rate(rows[i].statement, trial, chain.rate, chain.variance);
		if (p14 == 0) {
			double pause = p32 / (p31 + p32);

			assert_lost_runs(rows[i].statement, trial, 1 - p31 - p32);
			for (uint32_t n = 1; n <= RUN_MAX; n++)
				share[n] = pause * p23 * pow(1 - p23, n - 1) +
				           (1 - pause) * p13 * pow(1 - p13, n - 1);
			runs_count(&runs, trial, TRIAL_DELIVERED);
			assert_runs(rows[i].statement, &runs, share);
		}
		trial_close(trial);
	}
}

/* Computes the shares of the lengths of a run of losses of any chain. The share of runs that begin
 * in state j is proportional to the sum over i of s(i) (1 - lost(i)) move(i, j) lost(j); a run
 * continues from i with the sum of move(i, j) lost(j). */
static void chain_run_shares(const struct chain *chain, double share[RUN_MAX + 1])
{
	double at[CHAIN_STATES] = {0}, sum = 0;

	for (int i = 0; i < chain->n; i++) {
		for (int j = 0; j < chain->n; j++)
			at[j] += chain->stationary[i] * (1 - chain->lost[i]) * chain->move[i][j] *
			         chain->lost[j];
	}
	for (int j = 0; j < chain->n; j++)
		sum += at[j];
	share[0] = 0;
	for (uint32_t n = 1; n <= RUN_MAX; n++) {
		double next[CHAIN_STATES] = {0}, left = 0;

		share[n] = 0;
		for (int i = 0; i < chain->n; i++) {
			share[n] += at[i] / sum;
			for (int j = 0; j < chain->n; j++)
				next[j] += at[i] * chain->move[i][j] * chain->lost[j];
		}
		for (int j = 0; j < chain->n; j++) {
			at[j] = next[j];
			left += next[j] / sum;
		}
		share[n] -= left;
	}
}

/* Counts only every `thin`-th run: the distance between these is long enough to lose the
 * correlation with the state. */
static void thin_runs(struct runs *runs, const struct trial *trial, uint32_t thin)
{
	uint64_t length = 0, seen = 0;

	memset(runs, 0, sizeof(*runs));
	for (uint64_t i = 1; i <= trial->sent; i++) {
		if (trial->fate[i] & TRIAL_LOST) {
			length++;
			continue;
		}
		if (length > 0 && ++seen % thin == 0) {
			runs->of_length[RTE_MIN(length, (uint64_t)RUN_MAX)]++;
			runs->n++;
		}
		length = 0;
	}
}

/* If the state is hidden, runs are no longer geometric, but a mixture of phases that follows from
 * the chain. One run in 16 is counted: 15 gaps and runs lie between, at least 30 packets, after
 * which the chain with the longest memory here, 0.9, retains 4 %. */
static void runs_of_hidden_states_have_the_lengths_of_their_chain(void **state)
{
	static const struct {
		const char *statement;
		struct chain chain;
	} rows[] = {
	        {"loss gilbert-elliott p 1% r 10% bad 70% good 0.1%",
	         {.n = 2, .move = {{0.99, 0.01}, {0.1, 0.9}}, .lost = {0.001, 0.7}}},
	        {"loss gilbert-elliott p 5% r 5% bad 20% good 10%",
	         {.n = 2, .move = {{0.95, 0.05}, {0.05, 0.95}}, .lost = {0.1, 0.2}}},
	        {"loss four-state p13 1% p31 30% p32 20% p23 50% p14 0.5%",
	         {.n = 4,
	          .move = {{0.985, 0, 0.01, 0.005},
	                   {0, 0.5, 0.5, 0},
	                   {0.3, 0.2, 0.5, 0},
	                   {1, 0, 0, 0}},
	          .lost = {0, 0, 1, 1}}},
	};
	static double share[RUN_MAX + 1];
	static struct runs runs;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);
		struct chain chain = rows[i].chain;

		chain_solve(&chain);
		chain_run_shares(&chain, share);
		thin_runs(&runs, trial, 16);
		assert_true(runs.n > 300);
		assert_runs(rows[i].statement, &runs, share);
		trial_close(trial);
	}
}

/* Independent packets again, with a probability that follows from their length. */
static void bit_errors_lose_packets_by_their_length(void **state)
{
	static const struct {
		const char *statement;
		double ber;
		uint32_t wire_bytes;
	} rows[] = {
	        {"loss bit-error 1e-3", 1e-3, 64},   {"loss bit-error 1e-5", 1e-5, 64},
	        {"loss bit-error 1e-5", 1e-5, 1518}, {"loss bit-error 1e-6", 1e-6, 1518},
	        {"loss bit-error 1e-7", 1e-7, 1518},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, rows[i].wire_bytes);
		double p = -expm1(8.0 * rows[i].wire_bytes * log1p(-rows[i].ber));

		assert_rate(rows[i].statement, trial, p, p * (1 - p));
		if (p >= 0.01)
			assert_lost_runs(rows[i].statement, trial, p);
		assert_gaps(rows[i].statement, trial, 1 - p);
		trial_close(trial);
	}
}

/* Not random, and therefore exact. */
static void what_is_counted_is_exact_to_the_packet(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost;
	} rows[] = {
	        /* 1002 packets a period: 998 periods lose 3 each, then 4 packets */
	        {"loss every 1000 burst 3", 2994},
	        {"loss every 1", 1000000},
	        /* 142857 periods of 7, then one packet */
	        {"loss pattern 3,4,5 of 7", 428571},
	        {"loss window from 10ms for 250us every 1ms", 990 * 250},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = million(rows[i].statement, 16);

		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		trial_close(trial);
	}
}

GROUP(loss)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_loss_is_binomial_and_its_runs_are_geometric),
	        cmocka_unit_test(correlated_loss_keeps_its_rate_and_lengthens_its_runs),
	        cmocka_unit_test(bursts_have_the_rate_and_the_lengths_asked_for),
	        cmocka_unit_test(gilbert_elliott_has_its_rate_and_its_bursts),
	        cmocka_unit_test(four_states_have_their_rate_their_bursts_and_their_gaps),
	        cmocka_unit_test(runs_of_hidden_states_have_the_lengths_of_their_chain),
	        cmocka_unit_test(bit_errors_lose_packets_by_their_length),
	        cmocka_unit_test(what_is_counted_is_exact_to_the_packet),
	};

	return cmocka_run_group_tests_name("loss", tests, rig_group_setup, rig_group_teardown);
}
