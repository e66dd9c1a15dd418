/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that a cloud generates: where and when they leave, in which order, and that the counters
 * add up. */
#include "rig.h"
#include "runner/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cloud.h"
#include "engine/engine_state.h"

/* A statement of this test: answers every packet with one of 64 bytes, which begins with the
 * packet's number plus 1000. */
#define ANSWER_BYTES 64
#define ANSWER       1000

static void echo_process(struct stage *stage, struct burst *burst)
{
	struct cloud *cloud = stage->cloud;

	for (uint16_t i = 0; i < burst->n; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(cloud->holder->pool);
		uint64_t number = burst_number(burst, i) + ANSWER;
		char *frame;

		if (!mbuf) {
			cloud_generate_nothing(cloud, burst_t(burst, i), burst_number(burst, i));
			continue;
		}
		mbuf->data_len = ANSWER_BYTES;
		mbuf->pkt_len = ANSWER_BYTES;
		frame = rte_pktmbuf_mtod(mbuf, char *);
		memset(frame, 0, ANSWER_BYTES);
		memcpy(frame, &number, sizeof(number));
		cloud_generate(cloud, mbuf, burst_t(burst, i), burst_number(burst, i));
	}
}

static int echo_make(const struct conf *conf, struct stage **stage)
{
	(void)conf;
	*stage = calloc(1, sizeof(**stage));
	if (!*stage)
		return -ENOMEM;
	(*stage)->process = echo_process;
	return 0;
}

static void echo_free(struct stage *stage)
{
	free(stage);
}

static const struct field no_fields[] = {FIELD_END};

static const struct statement echo_statement = {
        .name = "echo",
        .help = "answers",
        .role = ROLE_STAGE,
        .generates = true,
        .fields = no_fields,
        .conf_bytes = sizeof(struct conf),
        .make = echo_make,
        .free = echo_free,
};

static const struct statement *const with_echo[] = {
        &echo_statement, &loss_every_statement, &rate_statement, &delay_statement, NULL,
};

static void echo(struct rig *rig, const char *cloud)
{
	struct conf *conf = conf_make(&echo_statement);

	assert_non_null(conf);
	rig_put(rig, cloud, conf);
}

static struct rig *open_with(struct witness *witness)
{
	return rig_open(
	        &(struct rig_setup){.seed = 3, .statements = with_echo, .witness = witness});
}

struct expected {
	simtime due_ns;
	uint64_t number;
	uint32_t port;
};

static void assert_departures(const struct rig *rig, const struct expected *expected, uint32_t n)
{
	assert_int_equal(rig->n_departures, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(rig->departures[i].due_ns, expected[i].due_ns);
		assert_int_equal(rig->departures[i].number, expected[i].number);
		assert_int_equal(rig->departures[i].port, expected[i].port);
	}
}

static void an_answer_leaves_where_the_packet_came_at_the_same_instant(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{5, 1001, 0}, {7, 1002, 0}, {105, 1, 1}, {107, 2, 1}};
	const struct counters *c;

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_delay(rig, "down", 100, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "down");
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, 5);
	rig_send(rig, 0, 100, 7);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	c = &rig_report(rig, "down")->counters;
	assert_int_equal(c->rx_packets, 2);
	assert_int_equal(c->generated, 2);
	assert_int_equal(c->tx_packets, 4);
	assert_int_equal(c->tx_bytes, 2 * 100 + 2 * ANSWER_BYTES);
	/* Generated packets are not delayed, and are not in the statistics of the delay. */
	assert_int_equal(rig_report(rig, "down")->delay_ns.count, 2);
	rig_close(rig);
}

/* The hop of a chain: its answer leaves at the port of the first cloud, at the time when the packet
 * reaches the hop. */
static void a_cloud_behind_others_answers_at_the_port_of_the_first(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{15, 1001, 0}, {25, 1, 1}};

	(void)state;
	rig_cloud(rig, "one", 0, 1);
	rig_chain(rig, "two", "one", 1);
	rig_delay(rig, "one", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_delay(rig, "two", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "two");
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, 5);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	assert_int_equal(rig_report(rig, "one")->counters.onward, 1);
	assert_int_equal(rig_report(rig, "two")->counters.onward, 0);
	rig_close(rig);
}

/* Two directions: 40 packets from one side, then 40 from the other, and so on, 500 ns apart, in
 * bursts of at most `burst`. To send a packet of `up` takes 1,000 ns, so the queue of `up` empties
 * while packets of `down` arrive, at the same instants. */
static struct rig *both_ways(uint16_t burst, bool polled)
{
	struct rig *rig = open_with(NULL);
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n = 0;

	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	echo(rig, "down");
	rig_delay(rig, "down", 500, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_rate(rig, "up", 800000000, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 800; i++) {
		uint32_t port = i / 40 % 2;

		mbufs[n++] = rig_packet(rig, RIG_PLAIN, port, i + 1, 100, 0, 500 * (i + 1));
		if (n < burst && (i + 1) % 40 != 0)
			continue;
		rig_ingress(rig, mbufs, n);
		n = 0;
		if (polled)
			rig_advance(rig, rig->now);
	}
	rig_run_out(rig);
	return rig;
}

static void answers_leave_in_the_order_of_time_whatever_the_size_of_bursts(void **state)
{
	struct rig *single = both_ways(1, true);
	uint32_t meetings = 0;
	simtime last_ns = 0;

	(void)state;
	assert_int_equal(single->n_departures, 800 + 400);
	for (uint32_t i = 0; i < single->n_departures; i++) {
		const struct departure *d = &single->departures[i];

		if (d->port != 0)
			continue;
		assert_true(last_ns <= d->due_ns);
		meetings += last_ns == d->due_ns;
		last_ns = d->due_ns;
	}
	/* Otherwise the order at one instant would not have been tested. */
	assert_true(meetings > 100);
	for (uint32_t way = 1; way < 6; way++) {
		static const uint16_t bursts[] = {1, 7, 32};
		struct rig *rig = both_ways(bursts[way / 2], way % 2);

		assert_int_equal(rig->n_departures, single->n_departures);
		/* Compares the departures of each port: there is no order between ports. */
		for (uint32_t port = 0; port < 2; port++) {
			uint32_t k = 0;

			for (uint32_t i = 0; i < single->n_departures; i++) {
				if (single->departures[i].port != port)
					continue;
				while (rig->departures[k].port != port)
					k++;
				assert_int_equal(rig->departures[k].due_ns,
				                 single->departures[i].due_ns);
				assert_int_equal(rig->departures[k++].number,
				                 single->departures[i].number);
			}
		}
		rig_close(rig);
	}
	rig_close(single);
}

static void without_a_cloud_that_generates_clouds_stay_alone_at_their_ports(void **state)
{
	struct rig *rig = open_with(NULL);

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	rig_cloud(rig, "other", 2, 3);
	rig_apply(rig, 0);
	assert_null(rig->engine->events.wheel);
	echo(rig, "down");
	rig_apply(rig, 10);
	/* `down` generates, and `up` leads to the port where its answers leave; `other` has no part
	 * in this. */
	assert_non_null(rig->engine->cloud_table->slots[0]->events);
	assert_non_null(rig->engine->cloud_table->slots[1]->events);
	assert_null(rig->engine->cloud_table->slots[2]->events);
	rig_close(rig);
}

static void a_change_that_brings_answers_keeps_what_is_on_the_way(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{60, 1002, 0}, {105, 1, 1}, {110, 3, 0}, {160, 2, 1}};

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	rig_delay(rig, "down", 100, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_delay(rig, "up", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, 5);
	echo(rig, "down");
	rig_apply(rig, 50);
	rig_send(rig, 0, 100, 60);
	rig_send(rig, 1, 100, 100);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	rig_close(rig);
}

static void answers_take_their_place_among_what_another_cloud_delivers_there(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{105, 1, 0},    {105, 1003, 0}, {106, 2, 0},
	                                    {107, 1004, 0}, {205, 3, 1},    {207, 4, 1}};

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	rig_delay(rig, "down", 100, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_delay(rig, "up", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "down");
	rig_apply(rig, 0);
	rig_send(rig, 1, 100, 95);
	rig_send(rig, 1, 100, 96);
	rig_send(rig, 0, 100, 105);
	rig_send(rig, 0, 100, 107);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	rig_close(rig);
}

static void
a_cloud_that_comes_to_lead_to_a_port_is_in_order_with_what_is_on_its_way_there(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{109, 2, 0}, {110, 1, 0}, {110, 3, 0}, {112, 4, 0}};

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	rig_delay(rig, "up", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "down");
	rig_apply(rig, 0);
	rig_send(rig, 1, 100, 100);
	rig_cloud(rig, "third", 2, 0);
	rig_delay(rig, "third", 2, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 105);
	rig_send(rig, 2, 100, 107);
	rig_send(rig, 2, 100, 108);
	rig_send(rig, 2, 100, 110);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	rig_close(rig);
}

/* An answer that is held when its cloud is removed still leaves, and so do the packets in the
 * cloud's queue. A cloud that comes to lead to that port later delivers in order with them. */
static void a_cloud_that_is_removed_still_delivers_its_answers(void **state)
{
	struct rig *rig = open_with(NULL);
	const struct expected expected[] = {{5, 1001, 0}, {105, 1, 1}, {106, 2, 0}};

	(void)state;
	rig_cloud(rig, "down", 0, 1);
	rig_delay(rig, "down", 100, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "down");
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, 5);
	assert_int_equal(rig_report(rig, "down")->held_packets, 2);
	rig_remove(rig, "down");
	rig_cloud(rig, "up", 1, 0);
	rig_apply(rig, 6);
	rig_advance(rig, 105);
	rig_send(rig, 1, 100, 106);
	rig_run_out(rig);
	assert_departures(rig, expected, LENGTH(expected));
	rig_close(rig);
}

static void without_an_mbuf_an_answer_counts_as_generated_and_dropped(void **state)
{
	struct rig *rig = open_with(NULL);
	struct rte_mbuf **all = calloc(RIG_MBUFS, sizeof(struct rte_mbuf *)), *packet;
	uint32_t n = 0;

	(void)state;
	assert_non_null(all);
	rig_cloud(rig, "down", 0, 1);
	echo(rig, "down");
	rig_apply(rig, 0);
	packet = rig_packet(rig, RIG_PLAIN, 0, 1, 100, 0, 5);
	while (n < RIG_MBUFS && (all[n] = rte_pktmbuf_alloc(rig->pool)))
		n++;
	rig_ingress(rig, &packet, 1);
	rte_pktmbuf_free_bulk(all, n);
	free(all);
	assert_int_equal(rig_report(rig, "down")->counters.generated, 1);
	assert_int_equal(rig_report(rig, "down")->counters.drops[REASON_NO_BUFFER], 1);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 1);
	rig_close(rig);
}

/* ---- the fates that the witness receives ---- */

struct notebook {
	struct witness witness;
	uint32_t n;
	struct fate fates[16];
};

static void note(struct witness *witness, const struct fate *fate)
{
	struct notebook *notebook = (struct notebook *)witness;

	assert_true(notebook->n < LENGTH(notebook->fates));
	notebook->fates[notebook->n++] = *fate;
}

static void the_witness_is_told_of_an_answer_by_the_number_of_its_cause(void **state)
{
	struct notebook notebook = {.witness.tell = note};
	struct rig *rig = open_with(&notebook.witness);
	const struct fate *fate = notebook.fates;

	(void)state;
	rig_cloud(rig, "down", 2, 1);
	rig_delay(rig, "down", 100, 0, DELAY_UNIFORM, ORDER_KEEP);
	echo(rig, "down");
	rig_apply(rig, 0);
	rig_send(rig, 2, 100, 5);
	rig_run_out(rig);
	assert_int_equal(notebook.n, 2);
	assert_int_equal(fate->packet, 1);
	assert_int_equal(fate->port, 2);
	assert_int_equal(fate->kind, FATE_DELIVERED);
	assert_true(fate->flags & PACKET_GENERATED);
	assert_int_equal(fate->t_in_ns, 5);
	assert_int_equal(fate->t_out_ns, 5);
	assert_int_equal(fate[1].packet, 1);
	assert_int_equal(fate[1].flags, 0);
	assert_int_equal(fate[1].t_out_ns, 105);
	rig_close(rig);
}

GROUP(generate)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_answer_leaves_where_the_packet_came_at_the_same_instant),
	        cmocka_unit_test(a_cloud_behind_others_answers_at_the_port_of_the_first),
	        cmocka_unit_test(answers_leave_in_the_order_of_time_whatever_the_size_of_bursts),
	        cmocka_unit_test(without_a_cloud_that_generates_clouds_stay_alone_at_their_ports),
	        cmocka_unit_test(a_change_that_brings_answers_keeps_what_is_on_the_way),
	        cmocka_unit_test(answers_take_their_place_among_what_another_cloud_delivers_there),
	        cmocka_unit_test(
	                a_cloud_that_comes_to_lead_to_a_port_is_in_order_with_what_is_on_its_way_there),
	        cmocka_unit_test(a_cloud_that_is_removed_still_delivers_its_answers),
	        cmocka_unit_test(without_an_mbuf_an_answer_counts_as_generated_and_dropped),
	        cmocka_unit_test(the_witness_is_told_of_an_answer_by_the_number_of_its_cause),
	};

	return cmocka_run_group_tests_name("generate", tests, rig_group_setup, rig_group_teardown);
}
