/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that arrive at a shared cloud at one instant, in a burst: the results are the same as one
 * by one. */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "engine/engine_state.h"
#include "frame.h"
#include "trial.h"

#define PACKETS    4000
#define LEFT_MAX   (4 * PACKETS)
#define INSTANT_NS 20000

struct left {
	simtime due_ns;
	uint64_t bytes, hash;
};

/* The departures of each port, in order, and the counters and readings of each cloud. */
struct run {
	uint32_t n[2];
	struct left left[2][LEFT_MAX];
	struct counters counters[2];
	struct histogram delay_ns[2];
	struct meter_reading meter[2];
	struct aqm_report aqm[2];
};

static struct run single, burst;

static void forget(struct witness *witness, const struct fate *fate)
{
	(void)witness;
	(void)fate;
}

static uint64_t roll(uint64_t seed, uint64_t i, uint32_t lane)
{
	return draw_u64(draw_key_make(seed, "together", "chance"), i, lane);
}

/* Makes mostly frames that a router forwards; some that it answers, drops or ignores. */
static uint32_t make_frame(uint64_t seed, uint32_t i, uint8_t frame[FRAME_BYTES_MAX])
{
	const uint64_t dice = roll(seed, i, 1);
	const struct frame_shape shape = {
	        .ip = dice % 11 == 0 ? 6 : 4,
	        .protocol = dice % 3 ? FRAME_UDP : FRAME_TCP,
	        .n_tags = dice % 23 == 0,
	        .host = (uint8_t)(1 + dice % 200),
	        .sequence = i,
	        .payload_bytes = (uint32_t)(dice >> 8) % 900,
	};
	uint32_t bytes = frame_make(frame, &shape);
	uint8_t *ip = frame + frame_network(&shape);

	if (shape.ip == 4) {
		if (dice >> 20 & 1)
			ip[1] |= 2; /* ECT(0) */
		if ((dice >> 24) % 17 == 0)
			ip[8] = 1;
		if ((dice >> 32) % 29 == 0)
			memcpy(ip + 16, "\xc0\x00\x02\x01", 4);
		memset(ip + 10, 0, 2);
		((struct rte_ipv4_hdr *)(void *)ip)->hdr_checksum =
		        rte_ipv4_cksum((const void *)ip);
	} else if ((dice >> 24) % 7 == 0) {
		ip[7] = 1;
	}
	if ((dice >> 40) % 37 == 0)
		memcpy(frame + 12, "\x08\x06", 2);
	return bytes;
}

static void collect(struct rig *rig, struct run *run)
{
	for (uint32_t port = 0; port < 2; port++) {
		struct outlet *outlet = engine_outlet(rig->engine, port);

		for (uint32_t i = 0; i < outlet->n; i++) {
			struct left *left = &run->left[port][run->n[port]++];
			uint8_t room[FRAME_BYTES_MAX];
			const uint8_t *bytes = rte_pktmbuf_read(outlet->mbufs[i], 0,
			                                        outlet->mbufs[i]->pkt_len, room);

			assert_true(run->n[port] < LEFT_MAX);
			*left = (struct left){.due_ns = outlet->due_ns[i],
			                      .bytes = outlet->mbufs[i]->pkt_len,
			                      .hash = 14695981039346656037u};
			for (uint32_t k = 0; k < left->bytes; k++)
				left->hash = (left->hash ^ bytes[k]) * 1099511628211u;
		}
		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
		outlet->n = 0;
	}
}

static void advance(struct rig *rig, struct run *run, simtime now)
{
	while (engine_advance(rig->engine, now) > 0)
		collect(rig, run);
}

static void take_reports(struct rig *rig, const char *const *clouds, struct run *run)
{
	for (uint32_t c = 0; c < 2; c++) {
		const struct cloud_report *report = rig_report(rig, clouds[c]);

		run->counters[c] = report->counters;
		run->delay_ns[c] = report->delay_ns;
		run->meter[c] = report->observed.meter;
		run->aqm[c] = report->aqm;
	}
}

/* Plays 1 to 32 packets an instant, of one port, handed over `most` at a time. */
static void play_in(const char *const *words, const struct rig_setup *setup, uint16_t most,
                    struct run *run, bool burst_safe)
{
	const uint64_t seed = setup->seed;
	struct rig *rig = rig_open(setup);
	const char *const clouds[] = {"down", "up"};
	simtime t = 0;

	memset(run, 0, sizeof(*run));
	rig_cloud(rig, "down", 0, 1);
	rig_cloud(rig, "up", 1, 0);
	for (uint32_t i = 0; words[i]; i++) {
		for (uint32_t c = 0; c < 2; c++)
			rig_put(rig, clouds[c], trial_conf(words[i]));
	}
	rig_apply(rig, 0);
	assert_int_equal(rig->engine->cloud_table->slots[0]->burst_safe, burst_safe);
	for (uint32_t i = 0; i < PACKETS;) {
		uint32_t n = 1 + (uint32_t)(roll(seed, i, 2) % 32), port = roll(seed, i, 3) & 1;

		t += 1 + roll(seed, i, 4) % INSTANT_NS;
		while (n > 0 && i < PACKETS) {
			struct rte_mbuf *mbufs[BURST_MAX];
			uint16_t m = 0;

			for (; m < most && n > 0 && i < PACKETS; m++, n--, i++) {
				uint8_t frame[FRAME_BYTES_MAX];
				uint32_t bytes = make_frame(seed, i, frame);

				mbufs[m] =
				        rig_packet(rig, RIG_PLAIN, port, ++rig->sent, bytes, 0, t);
				memcpy(rte_pktmbuf_mtod(mbufs[m], uint8_t *), frame, bytes);
			}
			rig_hand_over(rig->engine, mbufs, m);
		}
		advance(rig, run, t);
	}
	while ((t = engine_next(rig->engine)) != SIMTIME_NEVER)
		advance(rig, run, t);
	assert_int_equal(engine_held_packets(rig->engine), 0);
	/* The departures were collected here, not by the rig. */
	rig->cleared = (uint64_t)run->n[0] + run->n[1];
	take_reports(rig, clouds, run);
	rig_close(rig);
}

static void play(const char *const *words, uint64_t seed, uint16_t most, struct run *run,
                 bool burst_safe, struct witness *witness)
{
	play_in(words, &(struct rig_setup){.seed = seed, .witness = witness}, most, run,
	        burst_safe);
}

static void assert_same_figures(uint32_t cloud)
{
	const struct aqm_report *one = &single.aqm[cloud], *other = &burst.aqm[cloud];

	assert_memory_equal(&other->n_figures, &one->n_figures, sizeof(one->n_figures));
	for (uint32_t i = 0; i < one->n_figures; i++)
		assert_memory_equal(&other->figures[i].value, &one->figures[i].value,
		                    sizeof(one->figures[i].value));
}

static void assert_same_runs(void)
{
	for (uint32_t port = 0; port < 2; port++) {
		assert_int_equal(burst.n[port], single.n[port]);
		for (uint32_t i = 0; i < single.n[port]; i++)
			assert_memory_equal(&burst.left[port][i], &single.left[port][i],
			                    sizeof(struct left));
	}
	assert_memory_equal(burst.counters, single.counters, sizeof(single.counters));
	assert_memory_equal(burst.delay_ns, single.delay_ns, sizeof(single.delay_ns));
	assert_memory_equal(burst.meter, single.meter, sizeof(single.meter));
	assert_same_figures(0);
	assert_same_figures(1);
}

static void assert_same(const char *const *words, uint64_t seed, bool burst_safe)
{
	play(words, seed, 1, &single, burst_safe, NULL);
	play(words, seed, BURST_MAX, &burst, burst_safe, NULL);
	assert_same_runs();
}

#define ROUTER "hop 192.0.2.1 2001:db8::1 mtu 700"
#define LOSSY  "loss random 10%", "duplicate random 10%", "corrupt random 5%"
#define MARKS  "red min 1kB max 8kB max-p 0.1 weight 0.01", "ecn on"
#define JITTER "delay 1ms jitter 900us order allow"

static void routers_that_answer(void **state)
{
	const char *const constant[] = {ROUTER, "delay 1ms", NULL};
	const char *const jitter[] = {ROUTER, LOSSY, JITTER, NULL};
	const char *const none[] = {ROUTER, LOSSY, NULL};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		assert_same(constant, seed, true);
		assert_same(jitter, seed, true);
		assert_same(none, seed, true);
	}
}

static void queues_that_mark_drop_and_quench(void **state)
{
	const char *const passing[] = {"rate 500mbit algorithm token-bucket burst 20kB queue 50kB",
	                               ROUTER,
	                               LOSSY,
	                               MARKS,
	                               JITTER,
	                               NULL};
	const char *const leaky[] = {
	        "rate 500mbit algorithm leaky-bucket queue 9kB", ROUTER,      LOSSY, MARKS,
	        "becn limit 100000 burst 100 on-drop on",        "delay 1ms", NULL};
	const char *const bucket[] = {"rate 700mbit algorithm token-bucket burst 4kB queue 9kB",
	                              ROUTER,
	                              MARKS,
	                              "becn limit 100000 burst 100 on-drop on",
	                              JITTER,
	                              NULL};
	const char *const codel[] = {"rate 500mbit algorithm token-bucket burst 20kB queue 50kB",
	                             ROUTER,
	                             "codel target 100us interval 1ms",
	                             "ecn on",
	                             JITTER,
	                             NULL};
	const char *const head[] = {
	        "rate 500mbit algorithm token-bucket burst 4kB queue 9kB drop head", ROUTER, JITTER,
	        NULL};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		assert_same(passing, seed, true);
		assert_same(leaky, seed, true);
		assert_same(bucket, seed, true);
		assert_same(codel, seed, true);
		assert_same(head, seed, true);
	}
}

static void meters_and_the_headers_that_ask_them(void **state)
{
	const char *const words[] = {"rate 500mbit algorithm token-bucket burst 20kB queue 50kB",
	                             ROUTER,
	                             "meter window 1ms",
	                             "feedback header protocol 17",
	                             LOSSY,
	                             MARKS,
	                             JITTER,
	                             "police 2gbit burst 20kB",
	                             NULL};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		assert_same(words, seed, true);
}

static void what_looks_at_more_than_its_packets_goes_one_by_one(void **state)
{
	const char *const sirens[] = {"rate 500mbit algorithm leaky-bucket queue 9kB",
	                              ROUTER,
	                              "feedback sirens",
	                              MARKS,
	                              "delay 1ms",
	                              NULL};

	(void)state;
	assert_same(sirens, 1, false);
}

/* If there is a witness, each departure is reported to it, so that packets do not leave in runs. */
static void assert_same_as_watched(const char *const *words)
{
	struct witness witness = {.tell = forget};

	for (uint64_t seed = 1; seed <= 3; seed++) {
		play(words, seed, 1, &single, false, &witness);
		play(words, seed, BURST_MAX, &burst, true, NULL);
		assert_same_runs();
	}
}

/* Bursts have some 80 kbit, and come every 10 us. */
static void packets_that_wait_and_leave_in_runs_fare_as_one_by_one(void **state)
{
	const char *const below[] = {"rate 9gbit queue 1MB",
	                             ROUTER,
	                             "meter window 3us",
	                             "feedback header protocol 17",
	                             "red min 20kB max 60kB max-p 0.1 weight 0.01",
	                             "ecn on",
	                             NULL};
	const char *const around[] = {"rate 8gbit queue 30kB",
	                              ROUTER,
	                              "feedback header window 10us",
	                              "red min 3kB max 9kB max-p 0.1 weight 0.1",
	                              "ecn on",
	                              NULL};
	const char *const counted[] = {"rate 8gbit queue 30kB", ROUTER, LOSSY,
	                               "red min 5pkt max 15pkt weight 0.02", NULL};
	const char *const bare[] = {"rate 7gbit overhead layer1 queue 15kB", ROUTER, "meter", NULL};
	const char *const delayed[] = {"rate 8gbit queue 30kB", ROUTER, MARKS, "delay 50us", NULL};
	const char *const changing[] = {"rate 7gbit queue 30kB",
	                                ROUTER,
	                                "meter",
	                                "delay 0s",
	                                "every 41us for 13us from 5us delay 3us",
	                                NULL};

	(void)state;
	assert_same_as_watched(below);
	assert_same_as_watched(around);
	assert_same_as_watched(counted);
	assert_same_as_watched(bare);
	assert_same_as_watched(delayed);
	assert_same_as_watched(changing);
}

static void without_memory_the_same_packets_are_lost(void **state)
{
	const struct rig_setup setup = {.seed = 1, .memory_bytes = 64 << 10};
	const char *const words[] = {"rate 1gbit queue 1MB", ROUTER, "meter", NULL};

	(void)state;
	play_in(words, &setup, 1, &single, true);
	play_in(words, &setup, BURST_MAX, &burst, true);
	assert_same_runs();
	assert_true(burst.counters[0].drops[REASON_NO_BUFFER] > 0);
}

static void packets_that_conform_together_fare_as_one_by_one(void **state)
{
	const char *const below[] = {"rate 9gbit algorithm token-bucket burst 12kB queue 1MB",
	                             ROUTER,
	                             "meter window 3us",
	                             "red min 20kB max 60kB max-p 0.1 weight 0.01",
	                             "ecn on",
	                             JITTER,
	                             NULL};
	const char *const around[] = {"rate 8gbit algorithm token-bucket burst 5kB queue 30kB",
	                              ROUTER,
	                              "feedback header window 10us",
	                              "red min 2kB max 5kB max-p 0.1 weight 0.2",
	                              "ecn on",
	                              NULL};
	const char *const bare[] = {"rate 9gbit algorithm token-bucket burst 12kB queue 20kB",
	                            ROUTER, LOSSY, "meter", NULL};
	const char *const codel[] = {"rate 8gbit algorithm token-bucket burst 12kB queue 50kB",
	                             ROUTER,
	                             "codel target 5us interval 50us",
	                             "ecn on",
	                             "meter window 7us",
	                             NULL};

	(void)state;
	assert_same_as_watched(below);
	assert_same_as_watched(around);
	assert_same_as_watched(bare);
	assert_same_as_watched(codel);
}

#define SENT     300 /* more than an outlet has room for */
#define FRAME_NS 1000

static void assert_leaves_as_the_link_sends(struct rig *rig)
{
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < SENT; i++)
		rig_send(rig, 0, 125, 500);
	rig_advance(rig, 500 + SENT / 2 * FRAME_NS);
	assert_int_equal(rig->n_departures, SENT / 2);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, SENT);
	for (uint32_t i = 0; i < SENT; i++) {
		assert_int_equal(rig->departures[i].due_ns, 500 + (i + 1) * FRAME_NS);
		assert_int_equal(rig->departures[i].number, i + 1);
		assert_int_equal(rig->departures[i].port, 1);
		assert_true(rig->departures[i].intact);
	}
}

static struct rig *router_without_delay(void)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	rig_cloud(rig, "down", 0, 1);
	rig_put(rig, "down", trial_conf("hop 192.0.2.1"));
	rig_put(rig, "down", trial_conf("rate 1gbit queue 1MB"));
	return rig;
}

static void without_a_delay_packets_leave_when_the_link_has_sent_them(void **state)
{
	struct rig *rig = router_without_delay();

	(void)state;
	assert_leaves_as_the_link_sends(rig);
	rig_close(rig);
	rig = router_without_delay();
	rig_chain(rig, "next", "down", 1);
	rig_put(rig, "next", trial_conf("hop 192.0.2.2"));
	assert_leaves_as_the_link_sends(rig);
	assert_int_equal(rig_report(rig, "next")->counters.rx_packets, SENT);
	rig_close(rig);
}

/* Two packets leave at one port in one nanosecond. The departure of one was decided on its arrival;
 * that of the other, which came before, only when the link had sent it. */
static void what_leaves_at_one_instant_leaves_in_the_order_in_which_that_came_about(void **state)
{
	struct rig *rig = router_without_delay();

	(void)state;
	rig_cloud(rig, "beside", 2, 1);
	rig_put(rig, "beside", trial_conf("hop 192.0.2.3"));
	rig_put(rig, "beside", trial_conf("delay 1us"));
	rig_apply(rig, 0);
	rig_send(rig, 0, 125, 500);
	rig_send(rig, 2, 125, 500);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(rig->departures[i].due_ns, 500 + FRAME_NS);
		assert_int_equal(rig->departures[i].number, 2 - i);
	}
	rig_close(rig);
}

GROUP(together)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(routers_that_answer),
	        cmocka_unit_test(queues_that_mark_drop_and_quench),
	        cmocka_unit_test(meters_and_the_headers_that_ask_them),
	        cmocka_unit_test(what_looks_at_more_than_its_packets_goes_one_by_one),
	        cmocka_unit_test(packets_that_wait_and_leave_in_runs_fare_as_one_by_one),
	        cmocka_unit_test(without_memory_the_same_packets_are_lost),
	        cmocka_unit_test(packets_that_conform_together_fare_as_one_by_one),
	        cmocka_unit_test(without_a_delay_packets_leave_when_the_link_has_sent_them),
	        cmocka_unit_test(
	                what_leaves_at_one_instant_leaves_in_the_order_in_which_that_came_about),
	};

	return cmocka_run_group_tests_name(
	        "packets that come to a shared cloud at one instant, together as one by one", tests,
	        rig_group_setup, rig_group_teardown);
}
