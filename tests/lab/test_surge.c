/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barford's and Crovella's web users: the quantile functions compared with distribution functions
 * that are written again here, and the draws of a group, 100,000 each. A bound is 3.29 standard
 * errors: a correct value exceeds it with one seed in a thousand, and the seed is fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/surge.h"
#include "lab/web_draw.h"
#include "runner/group.h"

#define DRAWS 100000

static void assert_near(double value, double wanted, double bound)
{
	if (!(fabs(value - wanted) <= bound))
		fail_msg("%.9g is not %.9g, within %.2g", value, wanted, bound);
}

/* The distribution functions of the paper's table. */
static double lognormal(double bytes)
{
	return erfc((9.357 - log(bytes)) / 1.318 / sqrt(2)) / 2;
}

static double file_bytes(double bytes)
{
	return bytes <= 133000 ? lognormal(bytes)
	                       : 1 - (1 - lognormal(133000)) * pow(133000 / bytes, 1.1);
}

static double references(double n)
{
	return 1 - pow(n, -2.43);
}

static double active_off(double s)
{
	return 1 - exp(-pow(s / 1.46, 0.382));
}

static double inactive_off(double s)
{
	return 1 - pow(s, -1.5);
}

static void each_quantile_function_inverts_its_distribution(void **state)
{
	static const struct {
		double (*quantile)(double u);
		double (*distribution)(double x);
	} rows[] = {
	        {surge_file_bytes, file_bytes},
	        {surge_references, references},
	        {surge_active_off_s, active_off},
	        {surge_inactive_off_s, inactive_off},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double before = 0;

		for (int k = 1; k < 2000; k++) {
			double u = k / 2000.0, x = rows[i].quantile(u);

			assert_true(x > before);
			assert_near(rows[i].distribution(x), u, 1e-9);
			before = x;
		}
	}
}

/* The values were computed with Python's statistics.NormalDist. */
static void medians_and_tails_are_those_of_the_table(void **state)
{
	(void)state;
	assert_near(surge_file_bytes(0.5), 11579.5976, 0.001);     /* e^9.357 */
	assert_near(surge_file_bytes(0.9679962615), 133000, 0.01); /* the end of the body */
	assert_near(surge_file_bytes(0.999), 3106103.518,
	            0.5); /* 133 kB (0.0320037 / 0.001)^(1/1.1) */
	assert_near(surge_references(0.5), 1.33008886, 1e-7);     /* 2^(1/2.43) */
	assert_near(surge_active_off_s(0.5), 0.55932673, 1e-7);   /* 1.46 (ln 2)^(1/0.382) */
	assert_near(surge_inactive_off_s(0.5), 1.58740105, 1e-7); /* 2^(1/1.5) */
	assert_near(surge_inactive_off_s(0.999), 100, 1e-6);
	/* The limits of a draw: at least one packet, and no more than a count can hold. */
	assert_true(surge_file_bytes(0x1p-54) > 0);
	assert_true(surge_references(0x1p-54) >= 1);
}

/* Opens a group that draws; fields that are not set here are not read by draws. */
static void group_open(struct web *web, struct web_conf *conf)
{
	struct problem problem = {.text = ""};

	*conf = (struct web_conf){.group.conf.statement = &group_surge, .references = true};
	*web = (struct web){.conf = conf, .tcp.packet_bytes = 1000};
	web->key = draw_key_make(1, "http", "web");
	assert_int_equal(web_model_choose(web, &problem), 0);
}

/* The bound for the share p of all draws. */
static double share_bound(double p)
{
	return 3.29 * sqrt(p * (1 - p) / DRAWS);
}

static void a_group_draws_the_files_of_the_table(void **state)
{
	const double one = lognormal(960), tail = 1 - lognormal(133000);
	uint32_t n_one = 0, n_tail = 0, n_two = 0, n_three = 0;
	struct web_conf conf;
	struct web web;

	(void)state;
	group_open(&web, &conf);
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint64_t index = web_index(i / 100, i % 100, 0);
		uint32_t packets = web.model->packets(&web, index);
		uint32_t objects = web.model->objects(&web, index);

		assert_true(packets >= 1 && objects >= 1 && objects <= WEB_OBJECTS_MAX);
		n_one += packets == 1;
		/* Packet 139 ends at 133,440 bytes: files with more packets belong to the tail. */
		n_tail += packets > 139;
		n_two += objects >= 2;
		n_three += objects >= 3;
	}
	assert_near(n_one / (double)DRAWS, one, share_bound(one));
	assert_near(n_tail / (double)DRAWS, tail * pow(133000 / (139 * 960.0), 1.1),
	            share_bound(tail));
	assert_near(n_two / (double)DRAWS, pow(2, -2.43), share_bound(pow(2, -2.43)));
	assert_near(n_three / (double)DRAWS, pow(3, -2.43), share_bound(pow(3, -2.43)));
	conf.references = false;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(web.model->objects(&web, web_index(i, 0, 0)), 1);
}

/* A unified header takes 16 bytes of each packet. */
static void a_file_needs_packets_for_its_bytes_whatever_their_headers_are(void **state)
{
	struct web_conf conf;
	struct web plain, extended;

	(void)state;
	group_open(&plain, &conf);
	extended = plain;
	extended.tcp.hops = 1;
	extended.tcp.packet_bytes += 16;
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t index = web_index(i, 0, 0);

		assert_int_equal(extended.model->packets(&extended, index),
		                 plain.model->packets(&plain, index));
	}
}

/* (x / scale)^shape of the Weibull and alpha ln x of the Pareto are exponential, with mean and
 * deviation 1. */
static void a_group_is_silent_as_the_table_says(void **state)
{
	double active = 0, inactive = 0;
	struct web_conf conf;
	struct web web;

	(void)state;
	group_open(&web, &conf);
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint64_t index = web_index(i / 100, i % 100, 1);

		active += pow((double)web.model->object_gap(&web, index) / SIMTIME_S / 1.46, 0.382);
		inactive += 1.5 * log((double)web.model->page_gap(&web, index) / SIMTIME_S);
	}
	assert_near(active / DRAWS, 1, 3.29 / sqrt(DRAWS));
	assert_near(inactive / DRAWS, 1, 3.29 / sqrt(DRAWS));
}

GROUP(surge)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_quantile_function_inverts_its_distribution),
	        cmocka_unit_test(medians_and_tails_are_those_of_the_table),
	        cmocka_unit_test(a_group_draws_the_files_of_the_table),
	        cmocka_unit_test(a_file_needs_packets_for_its_bytes_whatever_their_headers_are),
	        cmocka_unit_test(a_group_is_silent_as_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
