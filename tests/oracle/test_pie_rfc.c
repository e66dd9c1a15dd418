/* SPDX-License-Identifier: BSD-3-Clause */
/* PIE in a cloud: the fate of each packet is that of the pseudocode of RFC 8033, appendices A and
 * B, in double precision, with the same draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "load.h"
#include "trial.h"
#include "runner/group.h"

#define N 60000

#define QDELAY_REF 0.015
#define T_UPDATE   0.015
#define MAX_BURST  0.150

/* A FIFO before a link of 8 Mbit/s, with room for `room` packets besides the one that is being
 * sent. */
struct reference {
	simtime came[N + 1];
	uint32_t bytes[N + 1];
	bool lost[N + 1], marked[N + 1];
	uint32_t fifo[N + 1], head, tail, room; /* packets; waiting: head <= place < tail */
	uint64_t queued;
	simtime free_at, update; /* when the link becomes free, or 0; the next update */
	struct draw_key key;
	bool appendix_b; /* decay below half the target, and derandomization; else A */
	bool cap, ecn;
	double p, qdelay, qdelay_old, burst, accu;
};

static void calculate_drop_prob(struct reference *r)
{
	static const double table[][2] = {{1e-6, 2048}, {1e-5, 512}, {1e-4, 128},
	                                  {1e-3, 32},   {1e-2, 8},   {1e-1, 2}};
	double p = 0.125 * (r->qdelay - QDELAY_REF) + 1.25 * (r->qdelay - r->qdelay_old);
	double enough = r->appendix_b ? QDELAY_REF / 2 : 1e-12;

	for (size_t i = 0; i < LENGTH(table); i++) {
		if (r->p < table[i][0]) {
			p /= table[i][1];
			break;
		}
	}
	if (r->cap && r->p >= 0.1 && p > 0.02)
		p = 0.02;
	r->p += p;
	if (r->qdelay < enough && r->qdelay_old < enough)
		r->p *= 0.98;
	r->p = fmin(fmax(r->p, 0), 1);
	r->qdelay_old = r->qdelay;
	r->burst = r->burst > T_UPDATE * 1.5 ? r->burst - T_UPDATE : 0;
}

static bool drop_early(struct reference *r, double u)
{
	if ((r->qdelay_old < QDELAY_REF / 2 && r->p < 0.2) || r->queued <= 2 * 1024)
		return false;
	if (!r->appendix_b)
		return u < r->p;
	if (r->p == 0)
		r->accu = 0;
	r->accu += r->p;
	if (r->accu < 0.85)
		return false;
	if (r->accu < 8.5 && u >= r->p)
		return false;
	r->accu = 0;
	return true;
}

/* Moves the next packet, if there is one, to the link. */
static void deque(struct reference *r, simtime now)
{
	uint32_t i = r->fifo[r->head];

	r->free_at = 0;
	if (r->head == r->tail)
		return;
	r->head++;
	r->queued -= r->bytes[i];
	/* if no packet is behind it, the delay is 0, as in pie.h */
	r->qdelay = r->head < r->tail ? (double)(now - r->came[i]) * 1e-9 : 0;
	r->free_at = now + r->bytes[i] * SIMTIME_US;
}

static void advance(struct reference *r, simtime now)
{
	while (r->update <= now || (r->free_at && r->free_at <= now)) {
		if (r->free_at && r->free_at < r->update) {
			deque(r, r->free_at);
			continue;
		}
		calculate_drop_prob(r);
		r->update += 15 * SIMTIME_MS;
	}
}

static void enque(struct reference *r, uint32_t i, simtime now, uint32_t bytes, bool capable)
{
	double u = (double)(draw_u64(r->key, i - 1, 0) >> 1) / 0x1p63;

	if (i == 1) {
		r->update = now + 15 * SIMTIME_MS;
		r->burst = MAX_BURST;
	}
	advance(r, now);
	if (r->p == 0 && r->qdelay < QDELAY_REF / 2 && r->qdelay_old < QDELAY_REF / 2)
		r->burst = MAX_BURST;
	r->came[i] = now;
	r->bytes[i] = bytes;
	if (r->tail - r->head >= r->room) {
		r->lost[i] = true;
		r->accu = 0;
	} else if (r->burst == 0 && drop_early(r, u)) {
		r->marked[i] = r->ecn && capable && r->p < 0.1;
		r->lost[i] = !r->marked[i];
	}
	if (r->lost[i])
		return;
	r->fifo[r->tail++] = i;
	r->queued += bytes;
	if (!r->free_at)
		deque(r, now);
}

static bool *seen_marked;

static void look(void *argument, struct rte_mbuf *mbuf)
{
	(void)argument;
	seen_marked[packet_of(mbuf)->number] =
	        (rte_pktmbuf_mtod(mbuf, const uint8_t *)[15] & 3) == 3;
}

static void send(struct trial *trial, uint32_t i, uint8_t bits)
{
	const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = load_bytes(i) - 42};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	frame[15] = bits;
	trial->gap_ns = load_gap_ns(i);
	trial_send_frame(trial, frame, bytes);
}

static void every_packets_fate_is_that_of_the_rfcs_pseudocode(void **state)
{
	static const struct {
		const char *statement;
		bool appendix_b, cap, ecn;
		uint32_t room;
		const char *rate;
	} rows[] = {
	        {"pie cap off", false, false, false, 100000, "rate 8mbit queue 100000pkt"},
	        {"pie", false, true, false, 35, "rate 8mbit queue 35pkt"},
	        {"pie derandomize on decay half", true, true, false, 100000,
	         "rate 8mbit queue 100000pkt"},
	        /* the queue is full now and then, which resets `accu` */
	        {"pie derandomize on decay half", true, true, true, 35, "rate 8mbit queue 35pkt"},
	};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct trial *trial = trial_open_at(rows[row].rate, 1, SIMTIME_S);
		struct reference *r = calloc(1, sizeof(*r));
		uint32_t lost = 0, marked = 0;

		seen_marked = calloc(N + 1, sizeof(*seen_marked));
		trial_set(trial, rows[row].ecn ? "ecn on" : "ecn off");
		trial_set(trial, rows[row].statement);
		trial->look = look;
		*r = (struct reference){.room = rows[row].room,
		                        .update = SIMTIME_NEVER,
		                        .key = draw_key_make(1, "x", "pie "),
		                        .appendix_b = rows[row].appendix_b,
		                        .cap = rows[row].cap,
		                        .ecn = rows[row].ecn};
		for (uint32_t i = 1; i < N; i++) {
			enque(r, i, trial->now, load_bytes(i), i % 3 != 0);
			send(trial, i, i % 3 ? 2 : 0);
		}
		trial_run_out(trial);
		for (uint32_t i = 1; i < N; i++) {
			bool is_lost = (trial->fate[i] & TRIAL_LOST) != 0;

			lost += r->lost[i];
			marked += r->marked[i];
			if (is_lost != r->lost[i] || seen_marked[i] != r->marked[i])
				fail_msg("row %zu: packet %u is lost %d, marked %d; not %d, %d",
				         row, i, is_lost, seen_marked[i], r->lost[i], r->marked[i]);
		}
		assert_in_range(lost, 1000, N / 4);
		assert_in_range(lost, 1000, N / 4);
		assert_int_equal(marked > 100, rows[row].ecn);
		assert_int_equal(trial_counters(trial)->drops[REASON_QUEUE_FULL] > 10,
		                 rows[row].room < N);
		free(seen_marked);
		free(r);
		trial_close(trial);
	}
}

GROUP(pie_rfc)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_packets_fate_is_that_of_the_rfcs_pseudocode),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
