/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of a measurement, when it cannot be opened. The measurements are tested in
 * tests/bench. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "machine/eal.h"
#include "measure/bench_rig.h"
#include "runner/group.h"
#include "live_eal.h"

#define ROOM (32 << 20)

/* Replaces DPDK's function: a device without receive callbacks. */
const struct rte_eth_rxtx_callback *__wrap_rte_eth_add_rx_callback(uint16_t port, uint16_t queue,
                                                                   rte_rx_callback_fn function,
                                                                   void *argument);
const struct rte_eth_rxtx_callback *__wrap_rte_eth_add_rx_callback(uint16_t port, uint16_t queue,
                                                                   rte_rx_callback_fn function,
                                                                   void *argument)
{
	(void)port;
	(void)queue;
	(void)function;
	(void)argument;
	rte_errno = ENOTSUP;
	return NULL;
}

static void sources_that_cannot_be_made_are_refused_with_the_reason(void **state)
{
	const struct bench_conditions conditions = {
	        .runs = 1, .mbufs_max = 4096, .memory_max_bytes = ROOM};
	struct scenario *scenario = scenario_make();
	const struct bench_setup setup = {
	        .scenario = scenario, .ports = BENCH_SILENT, .frame_bytes = 64, .pps = 1000};
	static struct bench_rig rig;
	struct problem problem = {.text = ""};
	(void)state;

	assert_int_equal(scenario_add_port(scenario, "a", "net_null0", NULL), 0);
	assert_int_equal(scenario_add_port(scenario, "b", "net_null1", NULL), 0);
	assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), 0);
	assert_int_equal(bench_rig_open(&rig, &setup, &conditions, &problem), -ENOTSUP);
	assert_string_equal(problem.text,
	                    "cannot make the sources of packets: Operation not supported");
	scenario_free(scenario);
}

static int start(void **state)
{
	(void)state;
	return live_eal_start(1);
}

GROUP(bench_rig)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sources_that_cannot_be_made_are_refused_with_the_reason),
	};

	return cmocka_run_group_tests_name("bench_rig", tests, start, live_eal_stop);
}
