/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate of a link over any window, a million packets each.
 *
 * Let C(i) be the bits that have left up to the i-th departure, at t(i). The bits that pass between
 * any two departures are right to within D if the largest and the smallest C(i) - rate x t(i)
 * differ by at most D. So one pass covers all windows.
 */
#include "statistics.h"
#include "runner/group.h"

#include <stdlib.h>

struct windows {
	long double rate_bps, bits, most, least;
	uint64_t n;
};

static void depart(struct windows *w, simtime t, uint32_t bits)
{
	long double off;

	w->bits += bits; /* it leaves when its last bit has passed */
	off = w->bits - w->rate_bps * (long double)t / 1e9L;
	w->most = w->n == 0 || off > w->most ? off : w->most;
	w->least = w->n == 0 || off < w->least ? off : w->least;
	w->n++;
}

/* Offers packets until the million has left; all of the longest length, or of random lengths if
 * `mixed`. */
static void send_all(struct rig *rig, struct windows *w, simtime gap_ns, uint32_t longest,
                     bool mixed)
{
	struct engine *engine = rig->engine;
	struct outlet *outlet = engine_outlet(engine, 1);
	struct draw_key key = draw_key_make(3, "lengths", "");
	simtime now = 0;

	for (uint64_t i = 1; w->n < PACKETS;) {
		uint32_t wire = longest;
		struct rte_mbuf *mbuf;

		if (mixed)
			wire = 64 + (uint32_t)draw_index(draw_u64(key, i, 0), longest - 63);
		mbuf = rig_packet(rig, RIG_PLAIN, 0, i, 16, wire, now);
		rig->sent++;
		rig->now = now;
		rig_hand_over(engine, &mbuf, 1);
		while (engine_advance(engine, now) > 0) {
			for (uint32_t k = 0; k < outlet->n; k++)
				depart(w, outlet->due_ns[k], outlet->wire_bytes[k] * 8);
			rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
			rig->cleared += outlet->n;
			outlet->n = 0;
		}
		i++;
		now += gap_ns;
	}
}

static void any_window_has_the_rate_to_within_a_packet(void **state)
{
	static const struct {
		const char *statement;
		double rate_bps;
		uint32_t longest;
		bool mixed;
		uint32_t burst_bytes; /* that a token bucket may have saved up */
	} rows[] = {
	        {"rate 10mbit queue 100pkt", 10e6, 1514, false, 0},
	        {"rate 7654321bit queue 100pkt", 7654321, 1514, true, 0},
	        {"rate 999999937bit queue 100pkt", 999999937, 1514, true, 0},
	        {"rate 10mbit algorithm token-bucket burst 15kB queue 100pkt", 10e6, 1514, true,
	         15000},
	        {"rate 97mbit algorithm token-bucket burst 1514B queue 100pkt", 97e6, 1514, false,
	         1514},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		struct windows w = {.rate_bps = rows[i].rate_bps};
		simtime gap_ns;
		double packets;

		rig_cloud(rig, "x", 0, 1);
		cloud_conf_put(rig->scenario->clouds[0], trial_conf(rows[i].statement));
		rig_apply(rig, 0);
		/* 1.5 times what the link carries */
		gap_ns = (simtime)(rows[i].longest * (rows[i].mixed ? 4 : 8) * 1e9 /
		                   rows[i].rate_bps / 1.5);
		send_all(rig, &w, gap_ns, rows[i].longest, rows[i].mixed);
		/* departures are whole nanoseconds: an error of less than 2 bits */
		packets = (double)(w.most - w.least - 2) / (rows[i].longest * 8.0);
		if (packets > 1 + (double)rows[i].burst_bytes / rows[i].longest)
			fail_msg("%s: some window has %.3f packets too many or too few",
			         rows[i].statement, packets);
		rig_close(rig);
	}
}

GROUP(rate)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(any_window_has_the_rate_to_within_a_packet),
	};

	return cmocka_run_group_tests_name("rate", tests, rig_group_setup, rig_group_teardown);
}
