/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each delay distribution against its distribution function: with and without correlation, with
 * order kept and not.
 *
 * The delays are drawn as the line draws them (jitter_draw), without packets, so that a hundred
 * million of them take a second. ../unit/test_jitter.c tests that the line adds them to the right
 * instants.
 *
 * Kolmogorov and Smirnov: of n independent draws the largest distance between empirical and true
 * distribution function is below 1.9495 / sqrt(n) with probability 0.999 (p > 0.001). Correlated
 * draws are thinned until the rest is independent: with order kept, two delays are independent once
 * the gap between them is as wide as the distribution; those of a Gaussian copula, once the
 * correlation of the z is below 1e-4.
 */
#include "statistics.h"
#include "runner/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line/jitter.h"
#include "random/distribution.h"

#define KS_999 1.9495
#define MEAN   40e6 /* ns, of all distributions below */
#define JITTER 5e6

/* ---- distribution functions, of the delay in ns ---- */

static double uniform_function(double x)
{
	return fmin(1, fmax(0, ((x - MEAN) / JITTER + 1) / 2));
}

static double normal_function(double x)
{
	return erfc(-(x - MEAN) / JITTER / M_SQRT2) / 2;
}

static double exponential_function(double x)
{
	double t = (x - MEAN) / JITTER + 1;

	return t > 0 ? -expm1(-t) : 0;
}

/* Shape 4, for a jitter of half the mean: Erlang's. */
static double gamma_function(double x)
{
	double t = 4 * x / MEAN;

	return 1 - exp(-t) * (1 + t + t * t / 2 + t * t * t / 6);
}

static double lognormal_function(double x)
{
	double variance = log(1 + JITTER / MEAN * (JITTER / MEAN));

	return erfc(-(log(x / MEAN) + variance / 2) / sqrt(2 * variance)) / 2;
}

/* netem's: 4/3 (U^(-1/3) - 3/2) jitters from the mean. */
static double pareto_function(double x)
{
	double t = (x - MEAN) / JITTER * 3 / 4 + 1.5;

	return t > 1 ? 1 - pow(t, -3) : 0;
}

/* The quantiles are added, so the probability is found by bisection. */
static double paretonormal_function(double x)
{
	double low = -9, high = 9;

	for (int i = 0; i < 60; i++) {
		double z = (low + high) / 2, above = erfc(z / M_SQRT2) / 2;
		double pareto = 4.0 / 3 * (pow(above, -1.0 / 3) - 1.5);

		if (MEAN + JITTER * (z / 4 + pareto * 3 / 4) < x)
			low = z;
		else
			high = z;
	}
	return erfc(-high / M_SQRT2) / 2;
}

static const struct family {
	const char *name;
	const char *words;
	double (*function)(double x);
	double deviation; /* in jitters */
	/* With order kept: the gap after which delays are independent, in jitters. That of the
	 * heavy tails is 2000; beyond 60 one packet in 60,000 is still correlated. */
	double span;
} families[] = {
        {"uniform", "jitter 5ms distribution uniform", uniform_function, 0.57735, 2},
        {"normal", "jitter 5ms distribution normal", normal_function, 1, 13},
        {"exponential", "jitter 5ms distribution exponential", exponential_function, 1, 24},
        {"gamma", "jitter 20ms distribution gamma", gamma_function, 4, 100},
        {"lognormal", "jitter 5ms distribution lognormal", lognormal_function, 1, 20},
        {"pareto", "jitter 5ms distribution pareto", pareto_function, 1.1547, 60},
        {"paretonormal", "jitter 5ms distribution paretonormal", paretonormal_function, 1.0518, 60},
};

/* ---- drawing ---- */

struct source {
	struct jitter *jitter;
	double delay;
	struct draw_key key;
	struct jitter_state state;
	uint64_t drawn;
	simtime now, gap;
};

static void source_open(struct source *source, simtime gap, const char *words, const char *more)
{
	char statement[200];
	struct conf *conf;

	snprintf(statement, sizeof(statement), "delay 40ms %s %s", words, more);
	conf = trial_conf(statement);
	memset(source, 0, sizeof(*source));
	source->key = draw_key_make(11, statement, "delay");
	source->gap = gap;
	source->delay = MEAN;
	assert_int_equal(jitter_make((const struct delay_conf *)conf, &source->jitter), 0);
	conf_free(conf);
}

static void source_close(struct source *source)
{
	jitter_release(source->jitter);
}

/* Draws the delays of the next n packets, n <= BURST_MAX. */
static void source_draw(struct source *source, int64_t *deviation, uint16_t n)
{
	simtime t_ns[BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		t_ns[i] = source->now + i * source->gap;
	jitter_draw(source->jitter, &source->state, source->key, source->drawn, t_ns, n, deviation);
	source->now += n * source->gap;
	source->drawn += n;
}

/* Returns n delays, every `thin`-th of those drawn. */
static double *delays(struct source *source, uint32_t n, uint32_t thin)
{
	double *delay = malloc(n * sizeof(*delay));
	int64_t deviation[BURST_MAX];
	uint64_t at = 0;

	assert_non_null(delay);
	for (uint32_t filled = 0; filled < n; at += BURST_MAX) {
		source_draw(source, deviation, BURST_MAX);
		for (uint32_t i = (uint32_t)((thin - at % thin) % thin);
		     i < BURST_MAX && filled < n; i += thin)
			delay[filled++] = source->delay + (double)deviation[i];
	}
	return delay;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the delays. Compares one in 16, between which the distance cannot grow by more than
 * 16/n. */
#define STEP 16

static void assert_distributed(const char *what, double *delay, uint32_t n,
                               double (*function)(double))
{
	double most = 0, bound = KS_999 / sqrt(n) - STEP / (double)n;

	qsort(delay, n, sizeof(*delay), compare);
	for (uint32_t i = 0; i < n; i += STEP) {
		double f = function(delay[i]);

		most = fmax(most, fmax(fabs(f - i / (double)n), fabs(f - (i + 1) / (double)n)));
	}
	if (most > bound)
		fail_msg("%s: distance %.5f, at most %.5f", what, most, bound);
}

static void moments(const double *delay, uint32_t n, double *mean, double *deviation)
{
	double sum = 0, square = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += delay[i] - MEAN;
	*mean = sum / n + MEAN;
	for (uint32_t i = 0; i < n; i++)
		square += (delay[i] - *mean) * (delay[i] - *mean);
	*deviation = sqrt(square / n);
}

/* ---- shapes ---- */

static void independent_delays_have_their_distribution(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(families); i++) {
		struct source source;
		double *delay;

		source_open(&source, 1000, families[i].words, "order allow");
		delay = delays(&source, PACKETS, 1);
		assert_distributed(families[i].name, delay, PACKETS, families[i].function);
		free(delay);
		source_close(&source);
	}
}

static void correlated_delays_have_their_distribution(void **state)
{
	static const struct {
		const char *words;
		uint32_t n, thin;
	} rows[] = {
	        {"order allow correlation 25%", 1000000, 8},
	        {"order allow correlation 90%", 30000, 110},
	        /* a gap of 0.1 half-lives: 140 of them are 14 */
	        {"order allow half-life 10us", 30000, 160},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		for (size_t i = 0; i < LENGTH(families); i++) {
			struct source source;
			double *delay;

			source_open(&source, 1000, families[i].words, rows[r].words);
			delay = delays(&source, rows[r].n, rows[r].thin);
			assert_distributed(families[i].name, delay, rows[r].n,
			                   families[i].function);
			free(delay);
			source_close(&source);
		}
	}
}

/* Gaps from more than the width of the distribution to a hundredth of a jitter. */
static void delays_that_keep_order_have_their_distribution(void **state)
{
	static const double gaps[] = {30, 3, 0.3, 0.01}; /* in jitters */

	(void)state;
	for (size_t g = 0; g < LENGTH(gaps); g++) {
		for (size_t i = 0; i < LENGTH(families); i++) {
			uint32_t n = gaps[g] < 0.1 ? 4000 : 30000;
			uint32_t thin = (uint32_t)ceil(families[i].span / gaps[g]);
			struct source source;
			double *delay;

			source_open(&source, (simtime)(gaps[g] * JITTER), families[i].words,
			            "order keep");
			delay = delays(&source, n, thin);
			assert_distributed(families[i].name, delay, n, families[i].function);
			free(delay);
			source_close(&source);
		}
	}
}

static void a_memory_beside_order_leaves_the_distribution_as_it_is(void **state)
{
	static const struct {
		const char *words;
		double gap; /* jitters */
		uint32_t thin;
	} rows[] = {
	        {"order keep correlation 25%", 30, 8}, /* order binds only the heavy tails */
	        {"order keep correlation 60%", 1, 100},
	        {"order keep half-life 40ms", 0.5, 800},
	        {"order keep half-life 1us", 0.5, 200},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		for (size_t i = 0; i < LENGTH(families); i++) {
			struct source source;
			double *delay;

			if (strcmp(families[i].name, "gamma") == 0)
				continue; /* the distribution is four times as wide */
			source_open(&source, (simtime)(rows[r].gap * JITTER), families[i].words,
			            rows[r].words);
			delay = delays(&source, 8000, rows[r].thin);
			assert_distributed(families[i].name, delay, 8000, families[i].function);
			free(delay);
			source_close(&source);
		}
	}
}

/* The share of the late mode is binomial; the modes themselves are exact. */
static void bimodal_delays_are_one_of_two(void **state)
{
	struct source source;
	uint32_t late = 0;
	double *delay;

	(void)state;
	source_open(&source, 1000, "jitter 5ms distribution bimodal weight 20%", "order allow");
	delay = delays(&source, PACKETS, 1);
	for (uint32_t i = 0; i < PACKETS; i++) {
		assert_true(delay[i] == MEAN - JITTER || delay[i] == MEAN + JITTER);
		late += delay[i] > MEAN;
	}
	assert_share("late", late, PACKETS, 0.2, 0.2 * 0.8);
	free(delay);
	source_close(&source);
}

/* ---- order ---- */

/* From 1 kpps to 10 Mpps, with jitters of 1 to 20 % of the delay, mean and standard deviation are
 * those requested. The standard error of the mean of correlated packets is deviation x sqrt(2 tau /
 * T), tau being the integral of the correlation over time: 1.4 jitters at most for these (the
 * correlation that order itself causes; exponential). T, the time they take, is 4000 jitters or
 * more: 2.7 % of the jitter, and 3.29 times that are allowed. Squares are correlated for a shorter
 * time, but vary more: 10 % for the deviation. */
static void kept_order_has_the_mean_and_spread_asked_for_at_any_rate(void **state)
{
	static const char *const jitters[] = {"400us", "2ms", "8ms"};
	static const double jitter_ns[] = {0.4e6, 2e6, 8e6};
	static const char *const names[] = {"uniform", "normal", "exponential", "bimodal"};
	static const double deviations[] = {0.57735, 1, 1, 1};

	(void)state;
	for (size_t d = 0; d < LENGTH(names); d++) {
		for (size_t j = 0; j < LENGTH(jitters); j++) {
			for (uint32_t pps = 1000; pps <= 10000000; pps *= 100) {
				double gap = 1e9 / pps, mean, deviation;
				uint32_t thin = (uint32_t)RTE_MAX(1.0, jitter_ns[j] / 20 / gap);
				double span = 4000 * jitter_ns[j];
				uint32_t n = (uint32_t)(span / gap / thin);
				struct source source;
				char words[100];
				double *delay;

				/* 320 million packets a row take too long */
				if (n * (double)thin > 1e8)
					continue;
				n = RTE_MAX(n, 100000u);
				snprintf(words, sizeof(words), "jitter %s distribution %s",
				         jitters[j], names[d]);
				source_open(&source, (simtime)gap, words, "order keep");
				delay = delays(&source, n, thin);
				moments(delay, n, &mean, &deviation);
				if (fabs(mean - MEAN) > 0.09 * jitter_ns[j] ||
				    fabs(deviation / (deviations[d] * jitter_ns[j]) - 1) > 0.10)
					fail_msg("%s at %u pps: mean %.0f, deviation %.0f", words,
					         pps, mean, deviation);
				free(delay);
				source_close(&source);
			}
		}
	}
}

/* ---- correlation ---- */

/* Returns the correlation of each delay with the next, and its standard error, from 100 parts of
 * the run. */
static double correlation_of(const double *delay, uint32_t n, double *error)
{
	double mean, deviation, sum = 0, square = 0;
	uint32_t part = n / 100;

	moments(delay, n, &mean, &deviation);
	for (uint32_t p = 0; p < 100; p++) {
		double product = 0;

		for (uint32_t i = p * part; i + 1 < (p + 1) * part; i++)
			product += (delay[i] - mean) * (delay[i + 1] - mean);
		product /= (part - 1) * deviation * deviation;
		sum += product;
		square += product * product;
	}
	sum /= 100;
	*error = sqrt((square / 100 - sum * sum) / 99);
	return sum;
}

static void assert_correlation(const char *what, const char *more, const double *delay, uint32_t n,
                               double wanted)
{
	double error, got = correlation_of(delay, n, &error);

	/* Student's t of 99 degrees of freedom: 3.39 */
	if (fabs(got - wanted) > 3.39 * error)
		fail_msg("%s %s: correlation %.4f, not %.4f +- %.4f", what, more, got, wanted,
		         3.39 * error);
}

static void the_correlation_of_the_delays_is_as_asked(void **state)
{
	static const struct {
		const char *words;
		double gap; /* jitters */
		double correlation;
	} rows[] = {
	        {"order allow correlation 0%", 0.001, 0},
	        {"order allow correlation 25%", 0.001, 0.25},
	        {"order allow correlation 60%", 0.001, 0.6},
	        {"order allow correlation 95%", 0.001, 0.95},
	        {"order allow half-life 5ms", 1, 0.5},
	        {"order keep correlation 25%", 30, 0.25},
	        {"order keep correlation 60%", 4, 0.6},
	        {"order keep correlation 95%", 1, 0.95},
	        {"order keep half-life 10ms", 2, 0.5},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		for (size_t i = 0; i < LENGTH(families); i++) {
			struct source source;
			double *delay;

			/* Without a fourth moment there is no standard error. */
			if (strncmp(families[i].name, "pareto", 6) == 0 ||
			    strcmp(families[i].name, "gamma") == 0)
				continue;
			source_open(&source, (simtime)(rows[r].gap * JITTER), families[i].words,
			            rows[r].words);
			delay = delays(&source, PACKETS, 1);
			assert_correlation(families[i].name, rows[r].words, delay, PACKETS,
			                   rows[r].correlation);
			free(delay);
			source_close(&source);
		}
	}
}

/* Heavy tails: compares the normal scores, for whose correlation control has solved. */
static void the_correlation_of_heavy_tails_is_that_of_their_scores(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(families); i++) {
		const uint32_t n = PACKETS / 4; /* computing the scores takes long */
		struct source source;
		double *delay, wanted;

		if (strncmp(families[i].name, "pareto", 6) != 0)
			continue;
		source_open(&source, 1000, families[i].words, "order allow correlation 25%");
		wanted = jitter_copula_solve(&source.jitter->distribution, 0.25);
		delay = delays(&source, n, 1);
		for (uint32_t k = 0; k < n; k++) {
			double p = families[i].function(delay[k]);

			delay[k] = p < 0.5 ? -distribution_normal_quantile(p)
			                   : distribution_normal_quantile(1 - p);
		}
		assert_correlation(families[i].name, "scores", delay, n, wanted);
		free(delay);
		source_close(&source);
	}
}

/* Gaps of 0, 1/8, 1, 2 and 7 half-lives, at random: each class of neighbours has its own
 * correlation. The standard error of a correlation r of n normal pairs is (1 - r^2) / sqrt(n). */
static void a_half_life_is_exact_for_irregular_gaps(void **state)
{
	static const simtime gaps[] = {0, 125, 1000, 2000, 7000};
	double product[LENGTH(gaps)] = {0}, last = 0;
	uint32_t n[LENGTH(gaps)] = {0};
	struct draw_key key = draw_key_make(1, "gaps", "");
	struct source source;

	(void)state;
	source_open(&source, 0, "jitter 5ms distribution normal", "order allow half-life 1us");
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t class = (uint32_t)draw_index(draw_u64(key, i, 0), LENGTH(gaps));
		int64_t deviation;

		source.now += gaps[class];
		source_draw(&source, &deviation, 1);
		if (i > 0) {
			product[class] += last * (double)deviation / JITTER / JITTER;
			n[class]++;
			if (gaps[class] == 0)
				assert_true((double)deviation == last);
		}
		last = (double)deviation;
	}
	for (size_t c = 0; c < LENGTH(gaps); c++) {
		double r = exp2(-(double)gaps[c] / 1000), error;

		/* that of the product, whose variance is 1 + r^2; neighbours' products are
		 * correlated, too */
		error = sqrt((1 + r * r) / n[c]) * 1.5;
		if (fabs(product[c] / n[c] - r) > SIGMAS * error)
			fail_msg("gap %lu: correlation %.4f, not %.4f +- %.4f", gaps[c],
			         product[c] / n[c], r, SIGMAS * error);
	}
	source_close(&source);
}

GROUP(delay)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(independent_delays_have_their_distribution),
	        cmocka_unit_test(correlated_delays_have_their_distribution),
	        cmocka_unit_test(delays_that_keep_order_have_their_distribution),
	        cmocka_unit_test(a_memory_beside_order_leaves_the_distribution_as_it_is),
	        cmocka_unit_test(bimodal_delays_are_one_of_two),
	        cmocka_unit_test(kept_order_has_the_mean_and_spread_asked_for_at_any_rate),
	        cmocka_unit_test(the_correlation_of_the_delays_is_as_asked),
	        cmocka_unit_test(the_correlation_of_heavy_tails_is_that_of_their_scores),
	        cmocka_unit_test(a_half_life_is_exact_for_irregular_gaps),
	};

	return cmocka_run_group_tests_name("delay", tests, NULL, NULL);
}
