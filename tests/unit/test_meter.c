/* SPDX-License-Identifier: BSD-3-Clause */
/* The readings of a meter, and their windows. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#include "header/meter.h"

/* 1 byte a microsecond. */
#define RATE UINT64_C(8000000)

static struct rig *open_metered(const char *meter, uint64_t burst_bytes)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});

	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", trial_conf(meter));
	rig_rate(rig, "x", RATE, burst_bytes, LIMIT_PACKETS, 3);
	return rig;
}

static const struct meter_reading *reading(struct rig *rig)
{
	const struct cloud_report *report = rig_report(rig, "x");

	assert_true(report->observed.has_meter);
	return &report->observed.meter;
}

static void send_at(struct rig *rig, uint32_t n, uint32_t bytes, simtime t)
{
	rig_advance(rig, t);
	for (uint32_t i = 0; i < n; i++)
		rig_send(rig, 0, bytes, t);
}

static void nothing_is_measured_before_a_window_has_ended(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 0);

	(void)state;
	rig_apply(rig, 5000);
	send_at(rig, 3, 100, 5000);
	rig_advance(rig, 5000 + SIMTIME_MS - 1);
	assert_false(reading(rig)->measured);
	assert_int_equal(reading(rig)->link_bps, RATE);
	assert_int_equal(reading(rig)->available_bps, RATE);
	assert_int_equal(reading(rig)->window_ns, SIMTIME_MS);
	rig_run_out(rig);
	rig_close(rig);
}

/* In the first window, three packets of 100 us each come at once, and five that find no room. */
static void a_reading_is_exactly_that_of_the_last_whole_window(void **state)
{
	const simtime origin = 12345;
	struct rig *rig = open_metered("meter window 1ms", 0);
	const struct meter_reading *r;

	(void)state;
	rig_apply(rig, origin);
	send_at(rig, 4, 100, origin);
	send_at(rig, 1, 100, origin);
	send_at(rig, 1, 200, origin + SIMTIME_MS); /* of the second window */
	r = reading(rig);
	assert_true(r->measured);
	assert_int_equal(r->from_ns, origin);
	assert_int_equal(r->link_bps, RATE);
	/* One is being sent, three wait, the fifth is dropped. */
	assert_int_equal(r->sent_bps, 4 * 100 * 8 * 1000);
	assert_int_equal(r->available_bps, RATE - 3200000);
	assert_int_equal(r->utilisation_ppm, 400000);
	assert_int_equal(r->loss_ppb, 200000000);
	assert_int_equal(r->error_ppb, 0);
	/* 3, 2 and 1 packets wait for 100 us each. */
	assert_int_equal(r->queue_milli, 600);
	assert_int_equal(r->queue_packets_max, 3);
	/* 0, 100, 200 and 300 us. */
	assert_int_equal(r->delay_ns, 150 * SIMTIME_US);
	/* The last bit of the packet leaves in the second window; the fourth window has no
	 * packet. */
	send_at(rig, 1, 100, origin + 2 * SIMTIME_MS);
	assert_int_equal(reading(rig)->from_ns, origin + SIMTIME_MS);
	assert_int_equal(reading(rig)->sent_bps, 200 * 8 * 1000);
	send_at(rig, 1, 100, origin + 4 * SIMTIME_MS + 7);
	assert_int_equal(reading(rig)->from_ns, origin + 3 * SIMTIME_MS);
	assert_int_equal(reading(rig)->sent_bps, 0);
	assert_int_equal(reading(rig)->available_bps, RATE);
	assert_int_equal(reading(rig)->delay_ns, 0);
	assert_int_equal(reading(rig)->loss_ppb, 0);
	rig_run_out(rig);
	rig_close(rig);
}

static void a_queue_that_nothing_leaves_for_windows_is_there_all_the_same(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 0);

	(void)state;
	rig_apply(rig, 0);
	send_at(rig, 1, 20000, 0); /* for 20 ms */
	send_at(rig, 2, 100, SIMTIME_US);
	send_at(rig, 1, 100, 10 * SIMTIME_MS + 1);
	assert_int_equal(reading(rig)->from_ns, 9 * SIMTIME_MS);
	assert_int_equal(reading(rig)->queue_milli, 2000);
	assert_int_equal(reading(rig)->queue_packets_max, 2);
	assert_int_equal(reading(rig)->sent_bps, 0);
	rig_run_out(rig);
	rig_close(rig);
}

/* With a token bucket, a packet that waits does so until it leaves. */
static void a_token_bucket_delays_only_what_exceeds_it(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 200);

	(void)state;
	rig_apply(rig, 0);
	send_at(rig, 4, 100, 0); /* at 0, 0, 100 and 200 us */
	send_at(rig, 1, 100, SIMTIME_MS);
	assert_int_equal(reading(rig)->delay_ns, 75 * SIMTIME_US);
	assert_int_equal(reading(rig)->queue_milli, 300);
	assert_int_equal(reading(rig)->sent_bps, 3200000);
	rig_run_out(rig);
	rig_close(rig);
}

static void losses_are_errors_of_the_link_and_not_of_the_queue(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 0);

	(void)state;
	rig_loss_every(rig, "x", 5, 1);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 5; i++)
		send_at(rig, 1, 10, i * 20 * SIMTIME_US);
	send_at(rig, 1, 10, SIMTIME_MS);
	assert_int_equal(reading(rig)->error_ppb, 200000000);
	assert_int_equal(reading(rig)->loss_ppb, 0);
	rig_run_out(rig);
	rig_close(rig);
}

static void without_a_rate_there_is_no_limit_and_what_passes_is_sent(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", trial_conf("meter window 1ms"));
	rig_apply(rig, 0);
	send_at(rig, 5, 100, 10);
	send_at(rig, 1, 100, SIMTIME_MS);
	assert_true(reading(rig)->link_bps == OBSERVED_NO_LIMIT);
	assert_true(reading(rig)->available_bps == OBSERVED_NO_LIMIT);
	assert_int_equal(reading(rig)->sent_bps, 4000000);
	rig_run_out(rig);
	rig_close(rig);
}

static void clearing_the_counters_takes_nothing_from_a_reading(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 0);

	(void)state;
	rig_loss_every(rig, "x", 4, 1);
	rig_apply(rig, 0);
	send_at(rig, 4, 100, 0);
	rig->cleared = 4;
	engine_clear(rig->engine);
	rig->cleared -= rig_report(rig, "x")->held_packets;
	send_at(rig, 4, 100, 500 * SIMTIME_US);
	send_at(rig, 1, 100, SIMTIME_MS);
	assert_int_equal(reading(rig)->error_ppb, 250000000);
	assert_int_equal(reading(rig)->sent_bps, 6 * 800000);
	rig_run_out(rig);
	rig_close(rig);
}

static void a_change_of_something_else_keeps_the_reading(void **state)
{
	struct rig *rig = open_metered("meter window 1ms", 0);

	(void)state;
	rig_apply(rig, 0);
	send_at(rig, 2, 100, 0);
	send_at(rig, 1, 100, SIMTIME_MS);
	rig_rate(rig, "x", 2 * RATE, 0, LIMIT_PACKETS, 3);
	rig_apply(rig, SIMTIME_MS + 10);
	assert_int_equal(reading(rig)->sent_bps, 1600000);
	assert_int_equal(reading(rig)->available_bps, 2 * RATE - 1600000);
	rig_put(rig, "x", trial_conf("meter window 2ms"));
	rig_apply(rig, SIMTIME_MS + 20);
	assert_false(reading(rig)->measured);
	rig_unset(rig, "x", "meter");
	rig_apply(rig, SIMTIME_MS + 30);
	assert_false(rig_report(rig, "x")->observed.has_meter);
	send_at(rig, 2, 100, 3 * SIMTIME_MS);
	rig_run_out(rig);
	rig_close(rig);
}

/* Plays random arrivals in bursts of this size. Returns the last reading. */
static struct meter_reading reading_of_bursts(uint32_t size)
{
	struct rig *rig = open_metered("meter window 100us", 0);
	struct draw_key key = draw_key_make(9, "test", "arrivals");
	struct rte_mbuf *burst[BURST_MAX];
	struct meter_reading last;
	simtime t = 0;
	uint16_t n = 0;

	rig_loss(rig, "x", PROBABILITY_ONE / 10);
	rig_apply(rig, 0);
	for (uint64_t i = 0; i < 3001; i++) {
		t += draw_u64(key, i, 0) % (90 * SIMTIME_US);
		burst[n++] = rig_packet(rig, RIG_PLAIN, 0, i + 1, 20 + i % 60, 0, t);
		if (n == size || i == 3000) {
			rig_ingress(rig, burst, n);
			n = 0;
		}
	}
	last = *reading(rig);
	rig_run_out(rig);
	rig_close(rig);
	return last;
}

static void a_reading_does_not_depend_on_bursts(void **state)
{
	struct meter_reading one = reading_of_bursts(1);

	(void)state;
	assert_true(one.measured && one.sent_bps > 0 && one.from_ns > 100 * SIMTIME_MS);
	for (uint32_t size = 2; size <= 32; size += 5) {
		struct meter_reading other = reading_of_bursts(size);

		assert_int_equal(other.from_ns, one.from_ns);
		assert_int_equal(other.sent_bps, one.sent_bps);
		assert_int_equal(other.loss_ppb, one.loss_ppb);
		assert_int_equal(other.error_ppb, one.error_ppb);
		assert_int_equal(other.queue_milli, one.queue_milli);
		assert_int_equal(other.queue_packets_max, one.queue_packets_max);
		assert_int_equal(other.delay_ns, one.delay_ns);
	}
}

GROUP(meter)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_measured_before_a_window_has_ended),
	        cmocka_unit_test(a_reading_is_exactly_that_of_the_last_whole_window),
	        cmocka_unit_test(a_queue_that_nothing_leaves_for_windows_is_there_all_the_same),
	        cmocka_unit_test(a_token_bucket_delays_only_what_exceeds_it),
	        cmocka_unit_test(losses_are_errors_of_the_link_and_not_of_the_queue),
	        cmocka_unit_test(without_a_rate_there_is_no_limit_and_what_passes_is_sent),
	        cmocka_unit_test(clearing_the_counters_takes_nothing_from_a_reading),
	        cmocka_unit_test(a_change_of_something_else_keeps_the_reading),
	        cmocka_unit_test(a_reading_does_not_depend_on_bursts),
	};

	return cmocka_run_group_tests_name("meter", tests, rig_group_setup, rig_group_teardown);
}
