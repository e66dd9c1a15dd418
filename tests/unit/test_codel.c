/* SPDX-License-Identifier: BSD-3-Clause */
/* CoDel: its control law, and its decisions compared with the RFC's algorithm in double
 * precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/codel.h"
#include "frame.h"
#include "load.h"
#include "trial.h"
#include "runner/group.h"

static const struct codel_rule rfc = {
        .target_ns = 5 * SIMTIME_MS, .interval_ns = 100 * SIMTIME_MS, .mtu_bytes = 1514};

/* ---- the law ---- */

/* The published schedule: 100 ms, and after the n-th drop interval / sqrt(n) (RFC 8289, section
 * 3.3). */
static void spacings_are_the_interval_by_the_root_of_the_count(void **state)
{
	static const struct {
		uint32_t count;
		simtime spacing_ns;
	} rows[] = {
	        {1, 100000000}, {2, 70710678},   {3, 57735026},    {4, 50000000},
	        {10, 31622776}, {100, 10000000}, {10000, 1000000}, {1000000, 100000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(codel_spacing_q16(&rfc, rows[i].count) >> 16, rows[i].spacing_ns);
	for (uint32_t count = 1; count < 100000; count++)
		assert_true(fabs((double)codel_spacing_q16(&rfc, count) * 0x1p-16 -
		                 1e8 / sqrt(count)) <= 0x1p-16 + 1e-7);
	for (simtime ns = SIMTIME_US; ns <= CODEL_INTERVAL_MAX; ns = ns * 3 + 1) {
		struct codel_rule rule = {.interval_ns = ns};

		assert_int_equal(codel_spacing_q16(&rule, 1), ns << 16);
		assert_int_equal(codel_spacing_q16(&rule, 4), ns << 15);
	}
}

/* A standing queue: a packet is taken every 10 us, and each has waited for 20 ms. */
static void a_standing_queue_is_drained_faster_and_faster(void **state)
{
	struct codel codel = {0};
	double next = 0;
	uint32_t n = 0;

	(void)state;
	for (simtime now = SIMTIME_S; n < 200; now += 10 * SIMTIME_US) {
		bool selected = codel_select(&codel, &rfc, 20 * SIMTIME_MS, 30000, now);

		if (n == 0)
			next = 1.1e9; /* an interval above target */
		assert_int_equal(selected, (double)now >= next);
		if (!selected)
			continue;
		n++;
		next = n == 1 ? (double)now + 1e8 : next + 1e8 / sqrt(n);
		/* the next packets at the same instant pass */
		assert_false(codel_select(&codel, &rfc, 20 * SIMTIME_MS, 28500, now));
	}
	assert_int_equal(codel.count, 200);
}

static void who_falls_below_target_starts_anew_and_who_is_soon_back_remembers(void **state)
{
	static const struct {
		simtime away_ns;
		uint32_t count; /* after the return, when 10 were selected before */
	} rows[] = {{200 * SIMTIME_MS, 9}, {1500 * SIMTIME_MS, 9}, {1700 * SIMTIME_MS, 1}};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct codel codel = {0};
		simtime now = SIMTIME_S;

		for (; codel.count < 10; now += SIMTIME_MS)
			codel_select(&codel, &rfc, 20 * SIMTIME_MS, 30000, now);
		assert_true(codel.dropping);
		/* either condition alone is short enough */
		if (i & 1)
			assert_false(codel_select(&codel, &rfc, 5 * SIMTIME_MS - 1, 30000, now));
		else
			assert_false(codel_select(&codel, &rfc, 20 * SIMTIME_MS, 1514, now));
		assert_false(codel.dropping);
		now = codel.next + rows[i].away_ns - 101 * SIMTIME_MS;
		for (; !codel.dropping; now += SIMTIME_MS)
			codel_select(&codel, &rfc, 20 * SIMTIME_MS, 30000, now);
		assert_int_equal(codel.count, rows[i].count);
	}
}

static void a_mark_lets_the_packet_go_and_moves_the_schedule_on(void **state)
{
	struct codel codel = {0};
	uint32_t marked = 0;
	simtime now = SIMTIME_S;
	double last = 0;

	(void)state;
	for (; marked < 50; now += 10 * SIMTIME_US) {
		if (!codel_select(&codel, &rfc, 20 * SIMTIME_MS, 30000, now))
			continue;
		codel_marked(&codel, &rfc);
		if (marked > 1)
			assert_true(fabs((double)now - last - 1e8 / sqrt(marked)) <= 2e4);
		last = (double)now;
		marked++;
		assert_int_equal(codel.count, marked);
	}
}

/* The published trace of ns-3's codel-queue-disc-test-suite, "Basic drop operations" and "Basic
 * mark operations": 20 packets of 1000 B arrive at 0; maxpacket is 1500 B. At 10 ms one leaves. At
 * 210 ms one is dropped and one leaves, then one more leaves. At 420 ms, past 310 and 380.7 but not
 * 438.4, two are dropped and one leaves. If the packets are capable, one is marked where one would
 * be dropped; at 420 ms only the first. */
static void decisions_are_those_of_ns_3s_test(void **state)
{
	static const struct {
		simtime now;
		uint32_t dropped, marked, left; /* in this dequeue; left: in the queue after it */
	} rows[2][4] = {{{10, 0, 0, 19}, {210, 1, 0, 17}, {210, 0, 0, 16}, {420, 2, 0, 13}},
	                {{10, 0, 0, 19}, {210, 0, 1, 18}, {210, 0, 0, 17}, {420, 0, 1, 16}}};
	static const struct codel_rule rule = {
	        .target_ns = 5 * SIMTIME_MS, .interval_ns = 100 * SIMTIME_MS, .mtu_bytes = 1500};

	(void)state;
	for (uint32_t capable = 0; capable < 2; capable++) {
		struct codel codel = {0};
		uint32_t left = 20;

		for (size_t i = 0; i < LENGTH(rows[0]); i++) {
			simtime now = rows[capable][i].now * SIMTIME_MS;
			uint32_t dropped = 0, marked = 0;

			for (;;) {
				left--;
				if (!codel_select(&codel, &rule, now, left * 1000, now))
					break;
				if (capable) {
					codel_marked(&codel, &rule);
					marked++;
					break;
				}
				dropped++;
			}
			assert_int_equal(dropped, rows[capable][i].dropped);
			assert_int_equal(marked, rows[capable][i].marked);
			assert_int_equal(left, rows[capable][i].left);
		}
	}
}

/* ---- the RFC's algorithm, for comparison ---- */

#define N 60000

/* A FIFO of 8 Mbit/s, a byte a microsecond, and the pseudocode of RFC 8289, section 5, in double
 * precision, in seconds. */
struct reference {
	double came[N + 1];
	uint32_t bytes[N + 1];
	bool lost[N + 1];
	uint32_t head, tail; /* the packets head <= i < tail wait */
	uint64_t queued;
	double first_above, drop_next;
	uint32_t count, lastcount;
	bool dropping;
	double interval, target;
	uint64_t maxpacket;
	double free_at; /* when the link becomes free */
};

struct taken {
	uint32_t packet; /* 0: none */
	bool ok_to_drop;
};

static struct taken reference_take(struct reference *r, double now)
{
	struct taken taken = {0};

	if (r->head == r->tail) {
		r->first_above = 0;
		return taken;
	}
	taken.packet = r->head++;
	r->queued -= r->bytes[taken.packet];
	/* in whole ns: the sums compared are exact in ns */
	if (llround((now - r->came[taken.packet]) * 1e9) < llround(r->target * 1e9) ||
	    r->queued <= r->maxpacket) {
		r->first_above = 0;
	} else if (r->first_above == 0) {
		r->first_above = now + r->interval;
	} else if (now > r->first_above - 1e-10) {
		taken.ok_to_drop = true;
	}
	return taken;
}

static uint32_t reference_dequeue(struct reference *r, double now)
{
	struct taken taken = reference_take(r, now);

	if (r->dropping) {
		if (!taken.ok_to_drop)
			r->dropping = false;
		while (now > r->drop_next - 1e-10 && r->dropping) {
			r->lost[taken.packet] = true;
			r->count++;
			taken = reference_take(r, now);
			if (!taken.ok_to_drop)
				r->dropping = false;
			else
				r->drop_next += r->interval / sqrt(r->count);
		}
	} else if (taken.ok_to_drop) {
		uint32_t delta = r->count - r->lastcount;

		r->lost[taken.packet] = true;
		taken = reference_take(r, now);
		r->dropping = true;
		r->count = 1;
		if (delta > 1 && now - r->drop_next < 16 * r->interval)
			r->count = delta;
		r->drop_next = now + r->interval / sqrt(r->count);
		r->lastcount = r->count;
	}
	return taken.packet;
}

/* Lets the link take the waiting packets at the instants up to `now` when it is free. */
static void reference_advance(struct reference *r, double now)
{
	while (r->free_at > 0 && r->free_at <= now + 1e-10) {
		uint32_t packet = reference_dequeue(r, r->free_at);

		r->free_at = packet ? r->free_at + r->bytes[packet] * 1e-6 : 0;
	}
}

static void reference_arrive(struct reference *r, double now, uint32_t bytes)
{
	uint32_t packet = r->tail++;

	r->came[packet] = now;
	r->bytes[packet] = bytes;
	r->queued += bytes;
	if (r->free_at > 0)
		return;
	packet = reference_dequeue(r, now);
	r->free_at = now + r->bytes[packet] * 1e-6;
}

static void every_decision_is_that_of_the_rfcs_algorithm_in_double_precision(void **state)
{
	static const struct {
		const char *statement;
		double target, interval;
		uint64_t mtu;
	} rows[] = {
	        {"codel", 0.005, 0.1, 1514},
	        {"codel target 20ms interval 200ms mtu 3kB", 0.02, 0.2, 3000},
	        {"codel target 1ms interval 10ms mtu 0B", 0.001, 0.01, 0},
	};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct trial *trial = trial_open("rate 8mbit queue 100000pkt", 1);
		struct reference *r = calloc(1, sizeof(*r));
		uint32_t lost = 0;

		trial_set(trial, rows[row].statement);
		r->head = r->tail = 1;
		r->target = rows[row].target;
		r->interval = rows[row].interval;
		r->maxpacket = rows[row].mtu;
		trial->now = SIMTIME_S;
		for (uint32_t i = 1; i <= N - 1; i++) {
			double now = (double)trial->now * 1e-9;

			reference_advance(r, now);
			reference_arrive(r, now, load_bytes(i));
			trial->gap_ns = load_gap_ns(i);
			trial_send(trial, 1, load_bytes(i));
		}
		trial_run_out(trial);
		reference_advance(r, 1e9);
		for (uint32_t i = 1; i <= N - 1; i++) {
			lost += r->lost[i];
			if (((trial->fate[i] & TRIAL_LOST) != 0) != r->lost[i])
				fail_msg("row %zu: packet %u of %u is %s", row, i, N - 1,
				         r->lost[i] ? "not lost" : "lost");
		}
		assert_true(lost > 100);
		assert_int_equal(trial_counters(trial)->drops[REASON_CODEL], lost);
		free(r);
		trial_close(trial);
	}
}

/* ---- the statement ---- */

static uint64_t n_marked;

static void count_marks(void *argument, struct rte_mbuf *mbuf)
{
	(void)argument;
	n_marked += (rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 15)[0] & 3) == 3;
}

/* Offers 25 % too much for 5 s, in frames with these ECN bits. */
static struct trial *overload(const char *codel, const char *ecn, uint8_t bits)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 958};
	struct trial *trial = trial_open("rate 8mbit queue 100000pkt", 1);
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	frame[15] = bits;
	trial_set(trial, ecn);
	trial_set(trial, codel);
	trial->look = count_marks;
	trial->gap_ns = 800 * SIMTIME_US;
	n_marked = 0;
	trial_send_frames(trial, 6250, frame, bytes);
	trial_run_out(trial);
	return trial;
}

static void capable_packets_are_marked_and_others_dropped(void **state)
{
	static const struct {
		const char *codel, *ecn;
		uint8_t bits;
		bool dropped, marked, marked_at_once;
	} rows[] = {
	        {"codel", "ecn off", 2, true, false, false},
	        {"codel", "ecn on", 0, true, false, false},
	        {"codel", "ecn on", 2, false, true, false},
	        {"codel", "ecn on standard 2481", 1, true, false, false},
	        {"codel ce-threshold 1ms", "ecn on", 1, false, true, true},
	        {"codel ce-threshold 1ms", "ecn on", 0, true, false, false},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = overload(rows[i].codel, rows[i].ecn, rows[i].bits);
		const struct counters *counters = trial_counters(trial);

		assert_int_equal(counters->drops[REASON_CODEL] > 0, rows[i].dropped);
		assert_int_equal(n_marked > 0, rows[i].marked);
		assert_int_equal(counters->ecn_marked, n_marked);
		assert_int_equal(n_marked > 5000, rows[i].marked_at_once);
		trial_close(trial);
	}
}

/* 250 packets come at once, and each takes a ms. The 5th has waited too long; the packet at 105 ms
 * is dropped, and the one at 205 ms. Then too few are left. */
static void a_drop_is_told_at_its_instant(void **state)
{
	struct trial *trial = trial_open("rate 8mbit queue 100000pkt", 1);

	(void)state;
	trial_set(trial, "codel");
	trial->gap_ns = 0;
	trial_send(trial, 250, 1000);
	trial_run_out(trial);
	assert_int_equal(trial_counters(trial)->drops[REASON_CODEL], 2);
	assert_int_equal(trial->reason, REASON_CODEL);
	assert_int_equal(trial->dropped_ns, 205 * SIMTIME_MS);
	trial_close(trial);
}

static void errors_say_what_would_be_right(void **state)
{
	(void)state;
	assert_non_null(strstr(trial_problem("codel target 100ms"), "shorter than the interval"));
	assert_non_null(strstr(trial_problem("codel ce-threshold 1ms"), "say `ecn on`"));
	assert_non_null(strstr(trial_problem("codel"), "give cloud `x` a `rate`"));
}

static void a_change_goes_on_where_it_was(void **state)
{
	struct trial *plain = trial_open("rate 8mbit queue 100000pkt", 1);
	struct trial *changed = trial_open("rate 8mbit queue 100000pkt", 1);

	(void)state;
	trial_set(plain, "codel");
	trial_set(changed, "codel");
	plain->gap_ns = changed->gap_ns = 700 * SIMTIME_US;
	for (uint32_t i = 0; i < 50; i++) {
		trial_send(plain, 100, 1000);
		trial_send(changed, 100, 1000);
		trial_set(changed, i & 1 ? "codel" : "codel mtu 1513B");
	}
	trial_run_out(plain);
	trial_run_out(changed);
	assert_memory_equal(plain->fate, changed->fate, plain->sent + 1);
	assert_true(trial_count(plain, TRIAL_LOST) > 20);
	trial_close(plain);
	trial_close(changed);
}

static void bursts_do_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32};
	struct trial *trials[LENGTH(bursts)];

	(void)state;
	for (size_t i = 0; i < LENGTH(bursts); i++) {
		trials[i] = trial_open("rate 8mbit queue 100000pkt", 1);
		trials[i]->burst = bursts[i];
		trial_set(trials[i], "codel target 1ms interval 20ms");
		trials[i]->gap_ns = 700 * SIMTIME_US;
		trial_send(trials[i], 5000, 1000);
		trial_run_out(trials[i]);
		assert_memory_equal(trials[i]->fate, trials[0]->fate, 5001);
	}
	assert_true(trial_count(trials[0], TRIAL_LOST) > 100);
	for (size_t i = 0; i < LENGTH(bursts); i++)
		trial_close(trials[i]);
}

GROUP(codel)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(spacings_are_the_interval_by_the_root_of_the_count),
	        cmocka_unit_test(a_standing_queue_is_drained_faster_and_faster),
	        cmocka_unit_test(who_falls_below_target_starts_anew_and_who_is_soon_back_remembers),
	        cmocka_unit_test(a_mark_lets_the_packet_go_and_moves_the_schedule_on),
	        cmocka_unit_test(decisions_are_those_of_ns_3s_test),
	        cmocka_unit_test(every_decision_is_that_of_the_rfcs_algorithm_in_double_precision),
	        cmocka_unit_test(capable_packets_are_marked_and_others_dropped),
	        cmocka_unit_test(a_drop_is_told_at_its_instant),
	        cmocka_unit_test(errors_say_what_would_be_right),
	        cmocka_unit_test(a_change_goes_on_where_it_was),
	        cmocka_unit_test(bursts_do_not_matter),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
