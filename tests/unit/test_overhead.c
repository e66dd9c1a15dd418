/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of a frame on a link. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link/rate.h"
#include "runner/group.h"

static void frames_are_as_long_as_their_layer_says(void **state)
{
	/* frame, layer2, layer3, layer1, atm with 2 (PPPoA, VC), with 32 (PPPoE, LLC) bytes */
	static const uint32_t rows[][6] = {
	        {42, 42, 28, 84, 53, 106},       /* padded to 60 */
	        {60, 60, 46, 84, 106, 106},      /* 46 + 2 + 8 = 56: two cells */
	        {14 + 38, 52, 38, 84, 53, 106},  /* 38 + 10 = 48: just one */
	        {14 + 39, 53, 39, 84, 106, 106}, /* one byte more */
	        {1514, 1514, 1500, 1538, 1696, 1749},
	        {14, 14, 1, 84, 53, 53},
	        {0, 0, 1, 84, 53, 53},
	};
	struct rate_conf conf = {.rate_bps = 1};
	static char *layers[] = {"layer2", "layer3", "layer1", "atm", "atm"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int k = 0; k < 5; k++) {
			struct overhead overhead;

			conf.overhead = layers[k];
			conf.encap_bytes = k == 3 ? 2 : 32;
			overhead = rate_overhead(&conf);
			assert_int_equal(overhead_length(&overhead, rows[i][0]), rows[i][k + 1]);
		}
	}
}

/* netem: rate 1mbit PACKETOVERHEAD CELLSIZE CELLOVERHEAD. */
static void bytes_and_cells_of_ones_own_count_as_in_netem(void **state)
{
	static const struct {
		char *overhead;
		uint64_t cell, cell_overhead;
		uint32_t frame, length;
	} rows[] = {
	        {"0", 0, 0, 1000, 1000},       {"20", 0, 0, 1000, 1020},
	        {"-20", 0, 0, 1000, 980},      {"-20B", 0, 0, 10, 1},
	        {"8", 48, 5, 1000, 1113},      {NULL, 100, 0, 1001, 1100},
	        {NULL, 100, 10, 100, 110},     {"24", 0, 0, 70000, 70024},
	        {"24", 0, 0, 262144, 262168},  {"-14", 0, 0, 262144, 262130},
	        {NULL, 8, 120, 60000, 960000}, {"1000", 65535, 983025, 262144, 5242800},
	        {"24", 0, 0, 262145, 262145}, /* no frame is that long */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rate_conf conf = {.overhead = rows[i].overhead,
		                         .cell_bytes = rows[i].cell,
		                         .cell_overhead_bytes = rows[i].cell_overhead};
		struct overhead overhead = rate_overhead(&conf);

		assert_int_equal(overhead_length(&overhead, rows[i].frame), rows[i].length);
	}
}

static void what_is_no_overhead_is_refused(void **state)
{
	static const struct {
		char *overhead;
		uint64_t cell, cell_overhead;
		int error;
	} rows[] = {
	        {"layer2", 0, 0, 0},      {"layer4", 0, 0, -EINVAL}, {"1001", 0, 0, -EINVAL},
	        {"-1001", 0, 0, -EINVAL}, {"", 0, 0, -EINVAL},       {"20kB", 0, 0, -EINVAL},
	        {"-20B", 0, 0, 0},        {"atm", 48, 0, -EINVAL},   {NULL, 0, 5, -EINVAL},
	        {NULL, 10, 150, 0},       {NULL, 10, 151, -EINVAL},  {" 5", 0, 0, -EINVAL},
	        {"5 ", 0, 0, -EINVAL},    {"\t5", 0, 0, -EINVAL},    {"+5", 0, 0, 0},
	};
	struct problem problem;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rate_conf conf = {.rate_bps = 1,
		                         .overhead = rows[i].overhead,
		                         .cell_bytes = rows[i].cell,
		                         .cell_overhead_bytes = rows[i].cell_overhead};

		assert_int_equal(rate_statement.check(&conf.conf, NULL, &problem), rows[i].error);
	}
}

GROUP(overhead)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(frames_are_as_long_as_their_layer_says),
	        cmocka_unit_test(bytes_and_cells_of_ones_own_count_as_in_netem),
	        cmocka_unit_test(what_is_no_overhead_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
