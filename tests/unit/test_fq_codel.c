/* SPDX-License-Identifier: BSD-3-Clause */
/* FQ-CoDel: the order of transmission, which packets are dropped, and that nothing gets lost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "trial.h"
#include "runner/group.h"

#define FLOWS 8

/* ---- frames of flows ---- */

static uint8_t frames[FLOWS][FRAME_BYTES_MAX];
static uint32_t lengths[FLOWS];

/* Makes the frame of this flow, with this length and these ECN bits. */
static void flow_make(uint32_t flow, uint32_t bytes, uint8_t ecn)
{
	struct frame_shape shape = {.ip = 4,
	                            .protocol = FRAME_UDP,
	                            .source_port = (uint16_t)(2000 + flow),
	                            .payload_bytes = bytes - 42};

	lengths[flow] = frame_make(frames[flow], &shape);
	frames[flow][15] = ecn;
	assert_int_equal(lengths[flow], bytes);
}

static uint32_t flow_of(const struct rte_mbuf *mbuf)
{
	const uint8_t *udp = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, 34);

	return (uint32_t)(udp[0] << 8 | udp[1]) - 2000;
}

/* ---- departures ---- */

#define LEFT_MAX 200000
static struct left {
	uint32_t flow, number;
	simtime due_ns;
	uint64_t marked;
} left[LEFT_MAX];
static uint32_t n_left;
static uint64_t bytes_left[FLOWS];

static void look(void *argument, struct rte_mbuf *mbuf)
{
	uint32_t flow = flow_of(mbuf);

	(void)argument;
	assert_true(n_left < LEFT_MAX && flow < FLOWS);
	left[n_left++] =
	        (struct left){flow, (uint32_t)packet_of(mbuf)->number, packet_of(mbuf)->t_ns,
	                      (rte_pktmbuf_mtod(mbuf, uint8_t *)[15] & 3) == 3};
	bytes_left[flow] += mbuf->pkt_len;
}

static struct trial *open_fq(const char *rate, const char *fq, uint16_t burst)
{
	struct trial *trial = trial_open(rate, 3);

	trial_set(trial, fq);
	trial->burst = burst;
	trial->look = look;
	trial->gap_ns = 0;
	n_left = 0;
	memset(bytes_left, 0, sizeof(bytes_left));
	return trial;
}

static void send(struct trial *trial, uint32_t flow, uint32_t n)
{
	trial_send_frames(trial, n, frames[flow], lengths[flow]);
}

static double figure(struct trial *trial, const char *name)
{
	const struct aqm_report *aqm = &rig_report(trial->rig, "x")->aqm;

	for (uint32_t i = 0; i < aqm->n_figures; i++) {
		if (strcmp(aqm->figures[i].name, name) == 0)
			return aqm->figures[i].value;
	}
	fail_msg("no figure %s", name);
	return 0;
}

/* ---- the order of transmission ---- */

/* By hand. Packets have 1000 B, and the quantum is 1000 B. A, B and C arrive at one instant with 3,
 * 2 and 1 packets. A1 is taken at once, which uses up A's credit. The list of new queues is A, B,
 * C: A moves to the old ones; B1 is sent, then B has no credit; C1 is sent. The list of old queues
 * is A, B, C: A2, B2, C is empty and leaves; A3. */
static void new_flows_go_first_and_old_ones_in_turn(void **state)
{
	static const struct {
		uint32_t flow;
		simtime due_ms;
	} expected[] = {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {1, 5}, {0, 6}, {3, 7}, {0, 8}};
	struct trial *trial = open_fq("rate 8mbit queue 1000pkt", "fq-codel quantum 1kB", 32);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		flow_make(i, 1000, 0);
	send(trial, 0, 3);
	send(trial, 1, 2);
	send(trial, 2, 1);
	/* a new flow comes while A3 is sent, with A4 behind it: the new flow goes first */
	trial->now = 5500 * SIMTIME_US;
	send(trial, 0, 1);
	send(trial, 3, 1);
	trial_run_out(trial);
	assert_int_equal(n_left, LENGTH(expected));
	for (uint32_t i = 0; i < n_left; i++) {
		assert_int_equal(left[i].flow, expected[i].flow);
		assert_int_equal(left[i].due_ns, expected[i].due_ms * SIMTIME_MS);
	}
	assert_int_equal(figure(trial, "flows"), 0);
	assert_int_equal(figure(trial, "flows begun"), 4);
	trial_close(trial);
}

/* Flows that are never empty get the same number of bytes, whatever the lengths of their packets:
 * they differ by less than a quantum and the longest packet of each. */
static void flows_share_the_link_whatever_their_packets_lengths(void **state)
{
	static const uint32_t sizes[FLOWS] = {60, 200, 552, 1000, 1400, 1500, 1514, 90};
	struct trial *trial =
	        open_fq("rate 8mbit queue 100000pkt", "fq-codel target 1s interval 2s", 32);
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++)
		flow_make(i, sizes[i], 0);
	/* enough of each flow for 2 s */
	for (uint32_t i = 0; i < FLOWS; i++)
		send(trial, i, 300000 / sizes[i]);
	trial->now = SIMTIME_S;
	send(trial, 0, 1);
	for (uint32_t i = 0; i < FLOWS; i++) {
		least = RTE_MIN(least, bytes_left[i]);
		most = RTE_MAX(most, bytes_left[i]);
	}
	assert_in_range(least, 125000 - 3100, 125000);
	assert_in_range(most - least, 0, 2 * 1514 + 1514);
	trial_run_out(trial);
	assert_int_equal(figure(trial, "drops"), 0);
	trial_close(trial);
}

/* An occasional packet beside two floods waits only for the packet that is being sent; in a FIFO it
 * would wait for seconds. At first all flows are new, and are served in turn: a credit of 1514 B
 * allows two packets of 1500 B, because some credit is left after the first. */
static void a_sparse_flow_does_not_wait_behind_floods(void **state)
{
	struct trial *trial = open_fq("rate 8mbit queue 2000pkt", "fq-codel", 32);
	simtime first = 0, longest = 0;
	uint32_t sparse = 0;

	(void)state;
	flow_make(0, 1500, 0);
	flow_make(1, 1500, 0);
	flow_make(2, 100, 0);
	for (uint32_t i = 0; i < 500; i++) {
		simtime came = trial->now = i * 20 * SIMTIME_MS + i * 1231;

		send(trial, 0, 10);
		send(trial, 1, 10);
		send(trial, 2, 1);
		trial->now = came + 19 * SIMTIME_MS;
		/* a packet sent at this instant makes all earlier events happen */
		send(trial, 0, 1);
		for (; sparse < n_left; sparse++) {
			if (left[sparse].flow != 2)
				continue;
			longest = simtime_max(longest, left[sparse].due_ns - came);
		}
		if (i == 0) {
			first = longest;
			longest = 0;
		}
	}
	assert_int_equal(first, (4 * 1500 + 100) * SIMTIME_US);
	assert_in_range(longest, 1, (1500 + 100) * SIMTIME_US);
	trial_run_out(trial);
	trial_close(trial);
}

/* ---- drops ---- */

static void a_full_queue_drops_half_of_the_fullest_flow_from_its_head(void **state)
{
	struct trial *trial =
	        open_fq("rate 8mbit queue 100pkt", "fq-codel target 1s interval 4s", 32);

	(void)state;
	flow_make(0, 1000, 0); /* 80 packets: the fullest flow */
	flow_make(1, 1400, 0); /* 20 packets */
	flow_make(2, 100, 0);
	send(trial, 0, 81); /* one packet is being sent */
	send(trial, 1, 20);
	assert_int_equal(counters_drops(trial_counters(trial)), 0);
	send(trial, 2, 1);
	assert_int_equal(trial_counters(trial)->drops[REASON_FULLEST], 40);
	assert_int_equal(figure(trial, "drops fullest"), 40);
	/* the oldest packets of that flow: 2 to 41 */
	for (uint32_t i = 1; i <= 102; i++)
		assert_int_equal((trial->fate[i] & TRIAL_LOST) != 0, i >= 2 && i <= 41);
	trial_run_out(trial);
	assert_int_equal(n_left, 62);
	trial_close(trial);
}

static void a_batch_has_64_packets_at_most(void **state)
{
	struct trial *trial =
	        open_fq("rate 8mbit queue 1000pkt", "fq-codel target 1s interval 4s", 32);

	(void)state;
	flow_make(0, 1000, 0);
	send(trial, 0, 1001);
	send(trial, 0, 1);
	assert_int_equal(trial_counters(trial)->drops[REASON_FULLEST], 64);
	trial_run_out(trial);
	trial_close(trial);
}

static void what_is_itself_too_long_is_dropped(void **state)
{
	struct trial *trial = open_fq("rate 8mbit queue 1kB", "fq-codel", 32);

	(void)state;
	flow_make(0, 100, 0);
	flow_make(1, 1400, 0);
	send(trial, 0, 2);
	send(trial, 1, 1);
	assert_int_equal(trial_counters(trial)->drops[REASON_QUEUE_FULL], 1);
	assert_int_equal(trial_counters(trial)->drops[REASON_FULLEST], 0);
	trial_run_out(trial);
	trial_close(trial);
}

/* One flood, and one flow within its share: only packets of the flood are lost or marked. */
static void codel_acts_on_the_flow_that_stands_and_on_no_other(void **state)
{
	/* RFC 8290, section 5.2.6: marks by default */
	static const struct {
		const char *ecn;
		uint8_t bits;
		bool marked;
	} rows[] = {
	        {NULL, 2, true}, {"ecn on", 2, true}, {"ecn on", 0, false}, {"ecn off", 2, false}};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct trial *trial = open_fq("rate 8mbit queue 100000pkt", "fq-codel", 32);
		uint32_t marked[2] = {0};

		if (rows[row].ecn)
			trial_set(trial, rows[row].ecn);
		flow_make(0, 1000, rows[row].bits);
		flow_make(1, 1000, rows[row].bits);
		for (uint32_t i = 0; i < 2000; i++) {
			trial->now = i * 4 * SIMTIME_MS;
			send(trial, 0, 4);
			send(trial, 1, 1);
		}
		trial_run_out(trial);
		for (uint32_t i = 0; i < n_left; i++)
			marked[left[i].flow] += left[i].marked;
		assert_int_equal(bytes_left[1], 2000 * 1000);
		assert_int_equal(marked[1], 0);
		assert_int_equal(bytes_left[0] == 8000 * 1000, rows[row].marked);
		assert_int_equal(marked[0] > 20, rows[row].marked);
		assert_int_equal(trial_counters(trial)->drops[REASON_CODEL] > 20,
		                 !rows[row].marked);
		assert_int_equal(trial_counters(trial)->ecn_marked, marked[0]);
		trial_close(trial);
	}
}

/* ---- sorting ---- */

/* 1000 flows into 1024 queues: the expected number of used queues is 1024 (1 - (1 - 1/1024)^1000) =
 * 638.6, with a standard deviation below 12. */
static void flows_are_spread_over_the_queues(void **state)
{
	struct trial *trial = open_fq("rate 8kbit queue 100000pkt", "fq-codel", 32);

	(void)state;
	trial->look = NULL;
	for (uint32_t i = 0; i < 1001; i++) {
		flow_make(0, 60, 0);
		frames[0][34] = (uint8_t)(i >> 8);
		frames[0][35] = (uint8_t)i;
		send(trial, 0, 1);
	}
	assert_in_range((uint64_t)figure(trial, "flows"), 590, 687);
	trial_run_out(trial);
	trial_close(trial);
}

/* Asserts that the packets of each flow left in order. */
static void flows_keep_their_order(void)
{
	uint32_t last[FLOWS] = {0};

	for (uint32_t i = 0; i < n_left; i++) {
		assert_true(left[i].number > last[left[i].flow]);
		last[left[i].flow] = left[i].number;
	}
}

/* ---- changes ---- */

/* FQ-CoDel is added, changed, removed, and replaced by others with bands, while packets wait: all
 * packets leave, those of each flow in order. */
static void a_change_keeps_what_waits(void **state)
{
	static const char *const lines[] = {
	        "fq-codel flows 16",
	        "fq-codel quantum 300B",
	        "fq-codel flows 3",
	        "fq-codel flows 3 mtu 0B",
	        NULL /* none */,
	        "codel",
	        NULL,
	        "dualpi2",
	        "dualpi2 target 20ms",
	        NULL,
	        "fq-codel",
	        "fq-codel interval 200ms",
	};
	struct trial *trial = trial_open("rate 8mbit queue 100000pkt", 3);
	uint64_t sent = 0;

	(void)state;
	trial->look = look;
	n_left = 0;
	memset(bytes_left, 0, sizeof(bytes_left));
	for (uint32_t i = 0; i < FLOWS; i++)
		flow_make(i, 100 + 150 * i, 0);
	for (size_t l = 0; l < LENGTH(lines); l++) {
		struct cloud_conf *cloud = trial->rig->scenario->clouds[0];

		trial->gap_ns = 100 * SIMTIME_US;
		for (uint32_t i = 0; i < 400; i++, sent++)
			send(trial, i % FLOWS, 1);
		cloud_conf_remove(cloud, "codel");
		if (!lines[l] ||
		    !cloud_conf_get(cloud, lines[l][0] == 'f' ? "fq-codel" : "dualpi2")) {
			cloud_conf_remove(cloud, "fq-codel");
			cloud_conf_remove(cloud, "dualpi2");
		}
		if (lines[l])
			trial_set(trial, lines[l]);
		else
			rig_apply(trial->rig, trial->now);
		trial_set(trial, l % 2 ? "rate 8mbit queue 100000pkt overhead layer1"
		                       : "rate 6mbit queue 100000pkt");
	}
	trial_run_out(trial);
	flows_keep_their_order();
	assert_int_equal(n_left + counters_drops(trial_counters(trial)), sent);
	assert_true(n_left > 3000);
	/* each overhead computed the lengths anew */
	assert_int_equal(rig_report(trial->rig, "x")->queue_bytes, 0);
	trial_close(trial);
}

/* Classes take over packets that wait in bands; a cloud that is removed returns all mbufs
 * (rig_close). */
static void classes_take_over_and_clouds_go(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct cloud_conf *cloud;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	cloud = rig->scenario->clouds[0];
	rig_put(rig, "x", trial_conf("rate 8mbit queue 1000pkt"));
	rig_put(rig, "x", trial_conf("fq-codel"));
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 64 + i, 0);
	cloud_conf_remove(cloud, "fq-codel");
	rig_put(rig, "x", trial_conf("class data"));
	rig_put(rig, "x", trial_conf("class voice match 0 of 2"));
	rig_apply(rig, 500);
	assert_int_equal(rig_report(rig, "x")->queue_packets, 99);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 100);
	cloud_conf_remove_scope(cloud, "voice");
	cloud_conf_remove_scope(cloud, "data");
	rig_put(rig, "x", trial_conf("dualpi2"));
	rig_apply(rig, rig->now);
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 64 + i, rig->now);
	rig_close(rig);
}

static void bursts_do_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32};
	static struct left first[LEFT_MAX];
	uint32_t n_first = 0;

	(void)state;
	for (size_t b = 0; b < LENGTH(bursts); b++) {
		struct trial *trial =
		        open_fq("rate 8mbit queue 300pkt", "fq-codel interval 20ms", bursts[b]);

		trial->gap_ns = 97 * SIMTIME_US;
		for (uint32_t i = 0; i < FLOWS; i++)
			flow_make(i, 64 + 190 * i, 0);
		for (uint32_t i = 0; i < 1500; i++)
			send(trial,
			     (uint32_t)draw_index(draw_u64((struct draw_key){{1, 1}}, i, 0), FLOWS),
			     1 + i % 13);
		trial_run_out(trial);
		if (b == 0) {
			memcpy(first, left, sizeof(left));
			n_first = n_left;
			assert_true(trial_counters(trial)->drops[REASON_FULLEST] > 0);
			assert_true(trial_counters(trial)->drops[REASON_CODEL] > 0);
		}
		flows_keep_their_order();
		assert_int_equal(n_left, n_first);
		assert_memory_equal(left, first, n_left * sizeof(left[0]));
		trial_close(trial);
	}
}

static void errors_say_what_would_be_right(void **state)
{
	struct cloud_conf cloud = {.name = "x"};
	struct conf *rate = trial_conf("rate 8mbit drop head"), *fq = trial_conf("fq-codel");
	struct conf *confs[] = {rate};
	struct problem problem = {.text = ""};

	(void)state;
	memcpy(cloud.confs, confs, sizeof(confs));
	cloud.n_confs = 1;
	assert_int_equal(fq->statement->check(fq, &cloud, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "leave `drop head` out"));
	strcpy(fq->scope, "voice");
	assert_int_equal(fq->statement->check(fq, &cloud, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "use `codel` or `pie` here"));
	assert_non_null(strstr(trial_problem("fq-codel"), "give cloud `x` a `rate`"));
	conf_free(rate);
	conf_free(fq);
}

GROUP(fq_codel)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(new_flows_go_first_and_old_ones_in_turn),
	        cmocka_unit_test(flows_share_the_link_whatever_their_packets_lengths),
	        cmocka_unit_test(a_sparse_flow_does_not_wait_behind_floods),
	        cmocka_unit_test(a_full_queue_drops_half_of_the_fullest_flow_from_its_head),
	        cmocka_unit_test(a_batch_has_64_packets_at_most),
	        cmocka_unit_test(what_is_itself_too_long_is_dropped),
	        cmocka_unit_test(codel_acts_on_the_flow_that_stands_and_on_no_other),
	        cmocka_unit_test(flows_are_spread_over_the_queues),
	        cmocka_unit_test(a_change_keeps_what_waits),
	        cmocka_unit_test(classes_take_over_and_clouds_go),
	        cmocka_unit_test(bursts_do_not_matter),
	        cmocka_unit_test(errors_say_what_would_be_right),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
