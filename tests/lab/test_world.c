/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a run: a packet that leaves a cloud is at its host at that instant, whichever host
 * sends then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/group.h"
#include "lab/world.h"
#include "language/scenario_file.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "statements.h"

static struct rte_mempool *pool_of(const char *name, uint32_t mbufs, uint32_t most)
{
	return offline_pool_make(name, mbufs, most, NULL);
}

static const struct platform platform = {
        .statements = statements,
        .pool_make = pool_of,
        .pool_grow = offline_pool_grow,
        .pool_free = offline_pool_free,
        .memory_make = memory_reserve,
        .memory_free = memory_free,
};

/* Two hosts with a link between them. Its clouds have routers, so they are shared. */
struct pair {
	struct world world;
	struct host *left, *right;
	uint16_t left_port, right_port;
	simtime left_receives_ns;
	uint32_t left_received;
	struct timer sends;
};

static void left_receives(void *argument, const struct frame *frame, simtime now)
{
	struct pair *pair = argument;

	(void)frame;
	pair->left_receives_ns = now;
	pair->left_received++;
}

static void right_receives(void *argument, const struct frame *frame, simtime now)
{
	(void)argument;
	(void)frame;
	(void)now;
}

static void pair_open(struct pair *pair, const char *link)
{
	struct network *network = &pair->world.network;
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	struct problem problem;
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	int left, right;

	memset(pair, 0, sizeof(*pair));
	left = network_switch(network, "left");
	right = network_switch(network, "right");
	assert_int_equal(network_add_link(network, "wire", (uint32_t)left, (uint32_t)right), 0);
	network_route(network);
	network_print(network, out);
	fprintf(out,
	        "cloud wire %s\ncloud wire hop 192.0.2.1\n"
	        "cloud wire.back %s\ncloud wire.back hop 192.0.2.2\n",
	        link, link);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(
	        scenario_text_load(text, bytes, "pair", &scenario, message, sizeof(message)), 0);
	free(text);
	assert_int_equal(world_open(&pair->world, &platform, "pair", scenario, 1, &problem), 0);
	pair->world.arrivals_first = true;
	pair->left = world_host(&pair->world, (uint32_t)left, 0, 0);
	pair->right = world_host(&pair->world, (uint32_t)right, 0, 0);
	pair->left_port = host_listen(pair->left, left_receives, pair);
	pair->right_port = host_listen(pair->right, right_receives, pair);
	assert_int_equal(heap_announce(&pair->world.heap), 0);
}

static void datagram_send(struct host *from, uint16_t from_port, const struct host *to,
                          uint16_t to_port)
{
	const struct datagram datagram = {.from = {from->address, from_port},
	                                  .to = {to->address, to_port},
	                                  .data_bytes = 1000,
	                                  .ttl = FRAME_TTL};

	host_send_datagram(from, &datagram);
}

static void left_sends(void *argument, simtime now)
{
	const struct pair *pair = argument;

	(void)now;
	datagram_send(pair->left, pair->left_port, pair->right, pair->right_port);
}

/* Returns when a datagram from the right arrives at the left, which sends another one at that
 * instant, or never if SIMTIME_NEVER. */
static simtime left_receives_at(simtime left_sends_ns)
{
	struct pair pair;

	pair_open(&pair, "rate 8mbit queue 100kB");
	datagram_send(pair.right, pair.right_port, pair.left, pair.left_port);
	pair.sends = (struct timer){.fire = left_sends, .argument = &pair};
	if (left_sends_ns != SIMTIME_NEVER)
		timer_set(&pair.world.heap, &pair.sends, left_sends_ns);
	assert_int_equal(world_run(&pair.world, SIMTIME_S), 0);
	world_close(&pair.world);
	return pair.left_receives_ns;
}

static void what_leaves_a_cloud_as_another_host_sends_is_received_at_that_instant(void **state)
{
	const simtime alone = left_receives_at(SIMTIME_NEVER);

	(void)state;
	assert_true(alone > SIMTIME_MS && alone < 2 * SIMTIME_MS);
	assert_int_equal(left_receives_at(alone), alone);
	assert_int_equal(left_receives_at(alone - 1), alone);
	assert_int_equal(left_receives_at(alone + 1), alone);
}

/* More than the outlet of a port has room for. */
static void all_that_leaves_a_cloud_at_one_instant_is_received(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair, "delay 1ms");
	for (uint32_t i = 0; i < 200; i++)
		datagram_send(pair.right, pair.right_port, pair.left, pair.left_port);
	assert_int_equal(world_run(&pair.world, SIMTIME_S), 0);
	assert_int_equal(pair.left_received, 200);
	assert_int_equal(pair.left_receives_ns, SIMTIME_MS);
	world_close(&pair.world);
}

/* Two paths of two links lead from A to T, and from T to A. */
static void of_ways_with_as_few_links_the_link_defined_first_is_taken(void **state)
{
	static const char *const links[][2] = {{"A", "B"}, {"C", "T"}, {"B", "T"}, {"A", "C"}};
	static struct network network;
	int a, t;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const char name[] = {'l', (char)('0' + i), 0};

		assert_int_equal(network_add_link(&network, name,
		                                  (uint32_t)network_switch(&network, links[i][0]),
		                                  (uint32_t)network_switch(&network, links[i][1])),
		                 0);
	}
	network_route(&network);
	a = network_find_switch(&network, "A");
	t = network_find_switch(&network, "T");
	assert_int_equal(network.way[a][t], 0); /* the port of A-B at A */
	assert_int_equal(network.way[t][a], 3); /* the port of C-T at T */
	assert_int_equal(network.way[a][a], NETWORK_NO_WAY);
	network_release(&network);
}

GROUP(world)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_that_leaves_a_cloud_at_one_instant_is_received),
	        cmocka_unit_test(of_ways_with_as_few_links_the_link_defined_first_is_taken),
	        cmocka_unit_test(
	                what_leaves_a_cloud_as_another_host_sends_is_received_at_that_instant),
	};

	return cmocka_run_group_tests_name("world", tests, NULL, NULL);
}
