/* SPDX-License-Identifier: BSD-3-Clause */
/* A router of XCP, compared with its formulas in double precision, packet by packet. */
#include "trial.h"
#include "runner/group.h"

#include <math.h>
#include <string.h>

#include "frame.h"
#include "header/oq_header.h"
#include "header/xcp.h"
#include "packet/headers.h"

#define CAPACITY 1000000 /* bytes/s: one a microsecond */
#define SECOND   268435456.0
#define PACKETS  4000

/* ---- the reference ---- */

/* Instants and the mean round trip are integers, as in the model; all else is not. */
struct reference {
	double bytes, sum_x, sum_xrtt; /* s, s x s */
	double rtt, queue, positive, negative, per_x, per_byte;
	uint64_t interval_ns, interval_at, queue_at;
	double waiting, least;
	/* a FIFO: when the transmission of each waiting packet begins, and its length */
	uint64_t begins[PACKETS], free_at;
	uint32_t length[PACKETS], first, n;
};

static void reference_start(struct reference *r, uint64_t now)
{
	memset(r, 0, sizeof(*r));
	r->rtt = 0.05;
	r->interval_ns = 50000000;
	r->interval_at = now + r->interval_ns;
	r->queue_at = now + 2000000;
}

static void reference_interval(struct reference *r)
{
	double y = r->bytes * 1e9 / (double)r->interval_ns, spare, shuffled;

	if (r->sum_x > 0)
		r->rtt = floor(r->sum_xrtt / r->sum_x * SECOND) / SECOND;
	spare = 0.4 * (CAPACITY - y) - 0.226 * r->queue / r->rtt;
	shuffled = fmax(0, 0.1 * y - fabs(spare));
	r->positive = shuffled + fmax(spare, 0);
	r->negative = shuffled + fmax(-spare, 0);
	r->per_x = r->sum_x > 0 ? r->positive / r->sum_x : 0;
	r->per_byte = r->bytes > 0 ? r->negative / r->bytes : 0;
	r->bytes = r->sum_x = r->sum_xrtt = 0;
	r->interval_ns = (uint64_t)fmax(floor(r->rtt * 1e9), 1e6);
	r->interval_at += r->interval_ns;
}

static void reference_queue(struct reference *r)
{
	double ns = floor(r->rtt * 1e9) - r->waiting * 1e9 / CAPACITY;

	r->queue = r->least;
	r->least = r->waiting;
	r->queue_at += (uint64_t)fmax(floor(ns / 2), 2e6);
}

static void reference_timers(struct reference *r, uint64_t now)
{
	while (r->interval_at <= now || r->queue_at <= now) {
		if (r->queue_at <= r->interval_at)
			reference_queue(r);
		else
			reference_interval(r);
	}
	r->least = fmin(r->least, r->waiting);
}

static void reference_advance(struct reference *r, uint64_t now)
{
	for (; r->first < r->n && r->begins[r->first] <= now; r->first++) {
		reference_timers(r, r->begins[r->first]);
		r->waiting -= r->length[r->first];
	}
	reference_timers(r, now);
}

static double reference_request(struct reference *r, uint64_t now, uint32_t bytes, uint32_t x,
                                uint32_t rtt, double asked)
{
	double gain, toll, feedback;

	reference_advance(r, now);
	r->bytes += bytes;
	if (rtt) {
		r->sum_x += x / SECOND;
		r->sum_xrtt += x / SECOND * fmin(rtt / SECOND, 1);
	}
	/* into the FIFO */
	if (r->free_at > now) {
		r->waiting += bytes;
		r->begins[r->n] = r->free_at;
		r->length[r->n++] = bytes;
		r->free_at += bytes * UINT64_C(1000);
	} else {
		r->free_at = now + bytes * UINT64_C(1000);
	}
	if (!rtt)
		return 0;
	gain = fmin(r->positive, r->per_x * x / SECOND);
	toll = fmin(r->negative, r->per_byte * bytes);
	feedback = gain - toll;
	if (asked >= feedback) {
		asked = floor(feedback);
	} else {
		toll = fmin(r->negative, toll + feedback - asked);
		gain = asked + toll;
	}
	r->positive = fmax(0, r->positive - gain);
	r->negative = fmax(0, r->negative - toll);
	if (r->positive == 0)
		r->per_x = 0;
	if (r->negative == 0)
		r->per_byte = 0;
	return asked;
}

/* ---- packets ---- */

#define FRAME_AT(shape) (frame_transport(&(shape)))

struct seen {
	uint32_t n, at;
	int32_t delta[PACKETS];
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct seen *seen = argument;

	seen->delta[seen->n++] =
	        (int32_t)headers_u32(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, seen->at + 12));
}

static uint32_t request(uint8_t *frame, const struct frame_shape *shape, uint32_t x, uint32_t rtt,
                        int32_t asked)
{
	uint32_t bytes = frame_make(frame, shape);
	uint8_t *header = frame + frame_transport(shape);

	memset(header, 0, 20);
	header[0] = FRAME_TCP;
	header[1] = 20;
	header[2] = 0x21;
	headers_put_u32(header + 4, rtt);
	headers_put_u32(header + 8, x);
	headers_put_u32(header + 12, (uint32_t)asked);
	return bytes;
}

static struct trial *open_router(struct seen *seen, const struct frame_shape *shape)
{
	struct trial *trial = trial_open("rate 8mbit queue 4000pkt", 3);

	memset(seen, 0, sizeof(*seen));
	seen->at = frame_transport(shape);
	rig_put(trial->rig, "x", trial_conf("xcp"));
	rig_apply(trial->rig, 0);
	trial->look = look;
	trial->argument = seen;
	return trial;
}

static uint32_t dice(uint64_t *state, uint32_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % n);
}

/* Half, once and one and a half times the rate, each for a third of the packets; flows with round
 * trips of 8 to 400 ms. A fifth of the senders request little, some have no round trip time; and
 * once nothing comes for an hour. */
static void every_request_becomes_what_the_formulas_give(void **state)
{
	static struct reference reference;
	static struct seen seen;
	struct frame_shape shape = {.ip = 4, .protocol = 254, .payload_bytes = 500};
	struct trial *trial = open_router(&seen, &shape);
	static double expected[PACKETS];
	uint64_t rolls = 9, gains = 0, tolls = 0, kept = 0;
	simtime now = SIMTIME_MS;

	(void)state;
	reference_start(&reference, now);
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t rtt = dice(&rolls, 20) ? (8 + dice(&rolls, 393)) * 268435 : 0;
		uint32_t x = (1 + dice(&rolls, 40)) * 100000, bytes;
		int32_t asked = dice(&rolls, 5) ? 100000000 : (int32_t)dice(&rolls, 400) - 200;
		uint8_t frame[FRAME_BYTES_MAX];

		shape.payload_bytes = 100 + dice(&rolls, 900);
		bytes = request(frame, &shape, x, rtt, asked);
		expected[i] = reference_request(&reference, now, bytes, x, rtt, asked);
		trial->now = now;
		trial_send_frame(trial, frame, bytes);
		gains += rtt && expected[i] > 0;
		tolls += rtt && expected[i] < 0;
		kept += rtt && expected[i] == asked;
		now += dice(&rolls, 2 * bytes * 1000) * UINT64_C(3) / (i / (PACKETS / 3) + 2) + 1;
		if (i == PACKETS / 2)
			now += 3600 * SIMTIME_S;
	}
	trial_run_out(trial);
	assert_int_equal(seen.n, PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++) {
		if (fabs(seen.delta[i] - expected[i]) > 1 + 1e-6 * fabs(expected[i]))
			fail_msg("packet %u: %d, and the formulas give %.3f", i, seen.delta[i],
			         expected[i]);
	}
	/* The test is useful only if all three happened. */
	assert_true(gains > 500 && tolls > 500 && kept > 100);
	trial_close(trial);
}

/* By hand: 45,000 bytes in the first 50 ms are 900,000 byte/s. */
static void an_interval_by_hand(void **state)
{
	struct xcp_control control;

	(void)state;
	xcp_control_init(&control);
	for (int i = 0; i < 45; i++)
		xcp_control_arrival(&control, 1000, XCP_SECOND / 900, XCP_SECOND / 10);
	xcp_control_end(&control, CAPACITY);
	assert_int_equal(control.input, 900000);
	assert_int_equal(control.aggregate, INT64_C(40000) << 16);
	assert_int_equal(control.positive, UINT64_C(90000) << 16);
	assert_int_equal(control.negative, UINT64_C(50000) << 16);
	assert_int_equal(control.interval_ns, 99999997); /* 2^28 / 10, rounded down */
	/* A 45th of each: 2000 - 1111.1. */
	assert_int_equal(xcp_control_allot(&control, 1000, XCP_SECOND / 900, INT32_MAX), 888);
	/* 10,000 bytes wait all the time: 0.226 x 10000 / 0.1 s less. */
	control.queue_bytes = 10000;
	xcp_control_arrival(&control, 100000, XCP_SECOND, XCP_SECOND / 10);
	xcp_control_end(&control, CAPACITY);
	assert_int_equal(control.input, 1000000);
	assert_in_range(-control.aggregate >> 16, 22599, 22601);
	assert_in_range(control.positive >> 16, 77399, 77401);
	assert_in_range(control.negative >> 16, 99999, 100001);
	assert_int_equal(xcp_control_queue_ns(&control, 50000, CAPACITY),
	                 (99999997 - 50000000) / 2);
	assert_int_equal(xcp_control_queue_ns(&control, 99000, CAPACITY), XCP_QUEUE_MIN);
}

/* Beyond 10 MB of queue at an RTT of 37 ns, the aggregate exceeds 64 bits. The only packet of an
 * interval then has to give up all that a header can state. */
static void a_long_queue_at_a_short_rtt_takes_all_and_gives_nothing(void **state)
{
	static const uint64_t queues[] = {10000000, 30000000, UINT64_C(1) << 48};

	(void)state;
	for (size_t i = 0; i < LENGTH(queues); i++) {
		for (uint32_t rtt = 1; rtt <= 10; rtt++) {
			struct xcp_control control;

			xcp_control_init(&control);
			control.queue_bytes = queues[i];
			xcp_control_arrival(&control, 1500, 1000, rtt);
			xcp_control_end(&control, CAPACITY);
			assert_true(control.aggregate < 0);
			assert_int_equal(control.positive, 0);
			assert_int_equal(xcp_control_allot(&control, 1500, 1000, 100000),
			                 INT32_MIN);
		}
	}
}

static void what_is_no_request_passes_untouched(void **state)
{
	static const struct {
		uint8_t at, value;
		bool malformed;
	} rows[] = {{1, 19, true},   {1, 24, true},   {2, 0x11, true}, {2, 0x31, true},
	            {2, 0x20, true}, {2, 0x23, true}, {2, 0x22, false}};
	struct frame_shape shape = {.ip = 6, .protocol = 254, .payload_bytes = 100, .n_tags = 2};
	static struct seen seen;
	struct trial *trial = open_router(&seen, &shape);
	uint8_t frame[FRAME_BYTES_MAX];
	uint64_t malformed = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint32_t bytes = request(frame, &shape, 1000, 1000, 4711);

		frame[frame_transport(&shape) + rows[i].at] = rows[i].value;
		trial_send_frame(trial, frame, bytes);
		malformed += rows[i].malformed;
		assert_int_equal(trial_counters(trial)->feedback_malformed, malformed);
	}
	/* A request that the end of the packet cuts off. */
	shape.payload_bytes = 11; /* 8 bytes of a transport header before it */
	frame_make(frame, &shape);
	trial_send_frame(trial, frame, request(frame, &shape, 1000, 1000, 4711));
	trial_run_out(trial);
	assert_int_equal(trial_counters(trial)->feedback_malformed, malformed + 1);
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(seen.delta[i], 4711);
	assert_int_equal(trial_counters(trial)->feedback_written, 0);
	trial_close(trial);
}

static void a_meter_beside_it_reads_as_ever(void **state)
{
	struct frame_shape shape = {.ip = 4, .protocol = 254, .payload_bytes = 458};
	static struct seen seen;
	struct trial *trial = open_router(&seen, &shape);
	const struct observed *observed;
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = request(frame, &shape, 1000, XCP_SECOND / 100, 4711);

	(void)state;
	rig_put(trial->rig, "x", trial_conf("meter window 100ms"));
	rig_apply(trial->rig, 0);
	trial->gap_ns = SIMTIME_MS;
	trial_send_frames(trial, 250, frame, bytes);
	trial_run_out(trial);
	observed = &rig_report(trial->rig, "x")->observed;
	assert_true(observed->has_meter && observed->has_xcp);
	assert_int_equal(observed->meter.sent_bps, bytes * 8000);
	assert_int_equal((uint64_t)observed->xcp.input, bytes * 1000);
	assert_int_equal(observed->xcp.rtt_ns, 9999997);
	assert_int_equal((uint64_t)observed->xcp.capacity, CAPACITY);
	/* The statement is removed, and the meter stays; then vice versa. */
	rig_unset(trial->rig, "x", "xcp");
	rig_apply(trial->rig, trial->now);
	trial_send_frames(trial, 250, frame, bytes);
	observed = &rig_report(trial->rig, "x")->observed;
	assert_true(observed->has_meter && !observed->has_xcp);
	assert_int_equal(observed->meter.sent_bps, bytes * 8000);
	trial_close(trial);
}

static void without_a_rate_there_is_nothing_to_share_out(void **state)
{
	(void)state;
	assert_non_null(strstr(trial_problem("xcp"), "`cloud x rate 10mbit`"));
}

GROUP(xcp)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_request_becomes_what_the_formulas_give),
	        cmocka_unit_test(an_interval_by_hand),
	        cmocka_unit_test(a_long_queue_at_a_short_rtt_takes_all_and_gives_nothing),
	        cmocka_unit_test(what_is_no_request_passes_untouched),
	        cmocka_unit_test(a_meter_beside_it_reads_as_ever),
	        cmocka_unit_test(without_a_rate_there_is_nothing_to_share_out),
	};

	return cmocka_run_group_tests_name("xcp", tests, rig_group_setup, rig_group_teardown);
}
