/* SPDX-License-Identifier: BSD-3-Clause */
/* `red` in a cloud: the packets' fates are the decisions of red.h. */
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "aqm/red.h"
#include "bottleneck.h"
#include "frame.h"
#include "link/aqm.h"
#include "runner/group.h"
#include "trial.h"

#define RATE_BPS 10000000
#define SEED     11
/* Of the queue: above max, so that gentle RED reaches it. */
#define LIMIT_BYTES 60000

/* ---- frames ---- */

#define NOT_ECT 0
#define ECT_1   1
#define ECT_0   2
#define CE      3

/* Makes a UDP packet of this length, from 10.0.0.`host`, with these ECN bits. */
static uint32_t make(uint8_t *frame, uint32_t bytes, uint8_t ecn, uint16_t source_port)
{
	struct frame_shape shape = {.ip = 4,
	                            .protocol = FRAME_UDP,
	                            .host = 1,
	                            .source_port = source_port,
	                            .payload_bytes = bytes - 42};
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + frame_network(&shape));
	uint32_t length = frame_make(frame, &shape);

	assert_int_equal(length, bytes);
	ip->type_of_service = ecn;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	return length;
}

/* ---- delivered packets ---- */

/* Stores the ECN bits by packet number; 0xff: not delivered, or with a wrong checksum. */
static void look(void *argument, struct rte_mbuf *mbuf)
{
	uint8_t *ecn = argument;
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(mbuf, struct rte_ipv4_hdr *, 14);
	uint16_t sum = ip->hdr_checksum;

	ip->hdr_checksum = 0;
	if (rte_ipv4_cksum(ip) == sum)
		ecn[packet_of(mbuf)->number] = ip->type_of_service & CE;
}

/* ---- the same decisions, computed independently ---- */

struct beside {
	struct bottleneck link;
	struct red_rule rule;
	struct red red;
	struct draw_key key;
	uint64_t drawn;
	bool overflown; /* the last packet found no room */
};

static struct red_setup setup_of(const char *statement)
{
	struct conf *conf = trial_conf(statement);
	struct red_setup setup = red_conf_setup((struct red_conf *)conf);

	conf_free(conf);
	return setup;
}

static void beside_begin(struct beside *beside, const char *statement)
{
	const struct red_setup setup = setup_of(statement);

	memset(beside, 0, sizeof(*beside));
	beside->link.rate_bps = RATE_BPS;
	beside->key = draw_key_make(SEED, "x", "red ");
	red_rule_make(&beside->rule, &setup);
	red_begin(&beside->red, &beside->rule, 0);
}

static void beside_change(struct beside *beside, const char *statement)
{
	const struct red_setup setup = setup_of(statement);
	struct red_rule rule;

	red_rule_make(&rule, &setup);
	red_change(&beside->red, &beside->rule, &rule);
	beside->rule = rule;
}

static enum red_verdict beside_arrive(struct beside *beside, simtime now, uint32_t bytes,
                                      bool capable, bool chosen)
{
	struct red_arrival arrival = {.now = now,
	                              .wire_bytes = bytes,
	                              .rate_bps = RATE_BPS,
	                              .capable = capable,
	                              .chosen = chosen};
	enum red_verdict verdict;

	bottleneck_advance_to(&beside->link, now);
	if (beside->link.emptied)
		red_idle(&beside->red, beside->link.emptied_ns);
	arrival.queue = beside->rule.setup.bytes ? bottleneck_bytes(&beside->link)
	                                         : bottleneck_packets(&beside->link);
	arrival.draw = draw_u64(beside->key, beside->drawn++, 0);
	verdict = red_arrive(&beside->red, &beside->rule, &arrival);
	beside->overflown = false;
	if (verdict == RED_DROP_EARLY || verdict == RED_DROP_FORCED)
		return verdict;
	beside->overflown =
	        beside->link.n > 0 && bottleneck_bytes(&beside->link) + bytes > LIMIT_BYTES;
	if (beside->overflown)
		red_overflow(&beside->red);
	else
		bottleneck_push(&beside->link, now, bytes);
	return verdict;
}

/* ---- traffic: a function of the packet's number ---- */

struct shape {
	uint32_t bytes;
	uint8_t ecn;
	uint16_t source_port; /* 2001: chosen by the tests' match */
	simtime gap_ns;
};

/* 110 to 130 % of the rate, with an occasional pause. */
static struct shape shape_of(uint64_t number)
{
	static const uint32_t sizes[] = {60, 552, 1000, 1514, 1514};
	struct draw_key key = draw_key_make(5, "test", "traffic");
	uint64_t draw = draw_u64(key, number, 0);
	struct shape shape = {
	        .bytes = sizes[draw % 5],
	        .ecn = draw >> 8 & 1   ? ECT_0
	               : draw >> 9 & 1 ? ECT_1
	                               : NOT_ECT,
	        .source_port = draw >> 10 & 1 ? 2001 : 3001,
	        .gap_ns = 1 + draw_index(draw_u64(key, number, 1), 1200000),
	};

	if (number % 700 == 0)
		shape.gap_ns += 60 * SIMTIME_MS;
	return shape;
}

struct run {
	struct trial *trial;
	uint8_t *ecn;
	uint64_t n;
};

static struct run run_open(const char *red, bool ecn, uint64_t n)
{
	struct run run = {.trial = trial_open("rate 10mbit queue 60kB", SEED), .n = n};

	run.ecn = malloc(n + 2);
	assert_non_null(run.ecn);
	memset(run.ecn, 0xff, n + 2);
	run.trial->gap_ns = 0;
	run.trial->look = look;
	run.trial->argument = run.ecn;
	if (ecn)
		trial_set(run.trial, "ecn on");
	trial_set(run.trial, red);
	return run;
}

static simtime run_send(struct run *run)
{
	struct shape shape = shape_of(run->trial->sent + 1);
	uint8_t frame[FRAME_BYTES_MAX];
	simtime now;

	run->trial->now += shape.gap_ns;
	now = run->trial->now;
	trial_send_frame(run->trial, frame, make(frame, shape.bytes, shape.ecn, shape.source_port));
	return now;
}

static void run_close(struct run *run)
{
	free(run->ecn);
	trial_close(run->trial);
}

/* Sends a packet after all others have left. */
static void drain(struct run *run)
{
	uint8_t frame[FRAME_BYTES_MAX];

	run->trial->now += 20 * SIMTIME_S;
	trial_send_frame(run->trial, frame, make(frame, 60, NOT_ECT, 2001));
}

/* ---- claims ---- */

struct seen {
	uint64_t marked, early, forced, overflown;
};

/* Asserts that the fate of packet `number` is the verdict. */
static void assert_happened(const struct run *run, uint64_t number, enum red_verdict verdict,
                            bool overflown, struct seen *seen)
{
	bool lost = run->trial->fate[number] & TRIAL_LOST;

	if (overflown) {
		assert_true(lost);
		assert_int_equal(run->trial->reason, REASON_QUEUE_FULL);
		seen->overflown++;
		return;
	}
	assert_int_equal(lost, verdict == RED_DROP_EARLY || verdict == RED_DROP_FORCED);
	seen->marked += verdict == RED_MARK_EARLY || verdict == RED_MARK_FORCED;
	seen->early += verdict == RED_DROP_EARLY;
	seen->forced += verdict == RED_DROP_FORCED;
	if (lost)
		assert_int_equal(run->trial->reason,
		                 verdict == RED_DROP_EARLY ? REASON_RED_EARLY : REASON_RED_FORCED);
}

/* Returns the verdict's effect: a packet that cannot be marked is dropped, for the same reason. */
static enum red_verdict settled(enum red_verdict verdict, bool markable)
{
	if (markable)
		return verdict;
	if (verdict == RED_MARK_EARLY)
		return RED_DROP_EARLY;
	return verdict == RED_MARK_FORCED ? RED_DROP_FORCED : verdict;
}

struct case_row {
	const char *red;
	bool ecn, matched; /* matched: port 2001 */
};

static const struct case_row cases[] = {
        {"red min 15kB max 45kB max-p 0.1 weight 0.002 unit byte", false, false},
        {"red min 15kB max 45kB max-p 0.1 weight 0.002 unit byte", true, false},
        {"red min 15pkt max 45pkt weight 0.01 gentle on wait off", true, false},
        {"red min 15kB max 30kB unit packet adaptive on", false, false},
        {"red min 15pkt max 45pkt weight 0.01 gentle on spacing off", true, false},
        {"red min 15kB max 45kB mark-to 60kB", true, false},
        {"red min 15kB max 45kB max-p 0.02 alpha 0.25 match udp src port 2001", true, true},
        {"red min 15kB max 45kB max-p 0.02 alpha 0.25", true, false},
        {"red min 15kB max 45kB max-p 0.2 marking ecn-mod match udp src port 2001", true, true},
        {"red min 15kB max 45kB max-p 100% marking ecn-mod c1 0.25 c2 0.125", true, false},
};

static struct seen compare(struct run *run, struct beside *beside, const struct case_row *row,
                           uint64_t n)
{
	struct seen seen = {0};

	for (uint64_t i = 0; i < n; i++) {
		simtime now = run_send(run);
		struct shape shape = shape_of(run->trial->sent);
		bool markable = row->ecn && shape.ecn != NOT_ECT;
		bool chosen = markable && (!row->matched || shape.source_port == 2001);
		enum red_selection selection = beside->rule.setup.selection;
		bool capable = selection == RED_SPACED ? chosen : markable;
		enum red_verdict verdict = beside_arrive(beside, now, shape.bytes, capable, chosen);

		assert_happened(run, run->trial->sent, settled(verdict, markable),
		                beside->overflown, &seen);
	}
	return seen;
}

static void what_red_decides_is_what_happens(void **state)
{
	const uint64_t n = 4000;
	uint64_t overflown = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct run run = run_open(cases[i].red, cases[i].ecn, n);
		struct beside beside;
		struct seen seen;
		const struct counters *c;
		uint64_t ce = 0;

		beside_begin(&beside, cases[i].red);
		seen = compare(&run, &beside, &cases[i], n);
		drain(&run);
		for (uint64_t number = 1; number <= n; number++)
			ce += run.ecn[number] == CE;
		c = trial_counters(run.trial);
		assert_int_equal(ce, seen.marked);
		assert_int_equal(c->ecn_marked, seen.marked);
		assert_int_equal(c->drops[REASON_RED_EARLY], seen.early);
		assert_int_equal(c->drops[REASON_RED_FORCED], seen.forced);
		assert_int_equal(c->drops[REASON_QUEUE_FULL], seen.overflown);
		overflown += seen.overflown;
		assert_true(seen.early + seen.forced > 20);
		assert_int_equal(seen.marked > 20, cases[i].ecn);
		run_close(&run);
	}
	assert_true(overflown > 100);
}

/* Every combination of two rows: the first is changed to the second in the middle, and back. */
static void a_change_while_packets_flow_keeps_average_and_counts(void **state)
{
	const uint64_t n = 700;

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (size_t j = 0; j < LENGTH(cases); j++) {
			struct run run = run_open(cases[i].red, true, 3 * n);
			struct case_row first = cases[i], second = cases[j];
			struct beside beside;

			first.ecn = second.ecn = true;
			beside_begin(&beside, first.red);
			compare(&run, &beside, &first, n);
			trial_set(run.trial, second.red);
			beside_change(&beside, second.red);
			compare(&run, &beside, &second, n);
			trial_set(run.trial, first.red);
			beside_change(&beside, first.red);
			compare(&run, &beside, &first, n);
			run_close(&run);
		}
	}
}

static void the_figures_shown_are_reds(void **state)
{
	struct run run = run_open(cases[0].red, false, 1000);
	const struct cloud_report *report;
	struct beside beside;
	double average;

	(void)state;
	beside_begin(&beside, cases[0].red);
	compare(&run, &beside, &cases[0], 600);
	report = rig_report(run.trial->rig, "x");
	average = report->queue_average_bytes;
	assert_string_equal(report->aqm.name, "red");
	assert_int_equal(report->aqm.n_figures, 2);
	assert_string_equal(report->aqm.figures[0].name, "probability");
	assert_true(beside.red.p > 0);
	assert_true(report->aqm.figures[0].value == (double)beside.red.p * 0x1p-63);
	assert_string_equal(report->aqm.figures[1].name, "max-p");
	assert_true(report->aqm.figures[1].value == (double)beside.red.max_p * 0x1p-63);
	assert_true(average > 1000);
	assert_true(average <= (double)(uint64_t)(beside.red.average >> 64) + 1);
	assert_true(average >= (double)(uint64_t)(beside.red.average >> 64));
	run_close(&run);
}

/* The average has hardly risen yet. */
static void a_full_queue_drops_as_queue_full(void **state)
{
	struct trial *trial = trial_open("rate 10mbit queue 20kB", SEED);
	const struct counters *c;

	(void)state;
	trial_set(trial, "red min 10kB max 60kB weight 0.0001");
	trial->gap_ns = 1;
	trial_send(trial, 100, 1000);
	c = trial_counters(trial);
	assert_int_equal(c->drops[REASON_QUEUE_FULL], 100 - 21);
	assert_int_equal(c->drops[REASON_RED_EARLY] + c->drops[REASON_RED_FORCED], 0);
	trial_close(trial);
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32};
	const uint64_t n = 6000;
	struct trial *trials[LENGTH(bursts)];

	(void)state;
	for (size_t row = 0; row < LENGTH(cases); row++) {
		for (size_t i = 0; i < LENGTH(bursts); i++) {
			uint8_t frame[FRAME_BYTES_MAX];
			uint32_t bytes = make(frame, 500, ECT_0, 2001);

			trials[i] = trial_open("rate 10mbit queue 100kB", SEED);
			if (cases[row].ecn)
				trial_set(trials[i], "ecn on");
			trial_set(trials[i], cases[row].red);
			trials[i]->burst = bursts[i];
			trials[i]->gap_ns = 380 * SIMTIME_US;
			trial_send_frames(trials[i], n, frame, bytes);
			trials[i]->gap_ns = 420 * SIMTIME_US;
			trial_send_frames(trials[i], n, frame, bytes);
			assert_memory_equal(trials[i]->fate, trials[0]->fate, 2 * n + 1);
			assert_int_equal(trial_counters(trials[i])->ecn_marked > 0, cases[row].ecn);
		}
		for (size_t i = 0; i < LENGTH(bursts); i++)
			trial_close(trials[i]);
	}
}

static void wrong_words_are_refused_with_what_would_be_right(void **state)
{
	static const struct {
		const char *statement, *said;
	} rows[] = {
	        {"red min 15kB max 14kB", "max is below min"},
	        {"red min 15ms max 45ms", "in bytes or packets, like 15kB or 15pkt"},
	        {"red min 15kB max 45kB mark-to 10ms", "in bytes or packets"},
	        {"red min 15pkt max 15500B unit packet", "at least 1000 B more"},
	        {"red min 15kB max 45kB alpha 0.25 marking ecn-mod", "leave one out"},
	        {"red min 15kB max 45kB spacing off wait on",
	         "selects each packet independently; `wait`"},
	        {"red min 15kB max 45kB alpha 0.25 spacing off", "`alpha` sets how"},
	        {"red min 15kB max 45kB c1 0.1", "c1 is for `marking ecn-mod`"},
	        {"red min 15kB max 45kB alpha 0.5 c2 0.1", "c2 is for `marking ecn-mod`"},
	        {"red min 15kB max 45kB marking ecn-mod c1 0", "c1 has to be above 0"},
	        {"red min 15kB max 45kB match tcp", "plain RED has no flows of its own"},
	        {"red min 15kB max 45kB alpha 0.25 match tcp[13] == 2", "joined by `and`"},
	        {"red min 15kB max 45kB alpha 0.25 match tcp and udp", "contradicts itself"},
	        {"red min 15kB max 45kB alpha 0.25", "say `ecn on`"},
	        {"red min 15kB max 45kB marking ecn-mod", "say `ecn on`"},
	        {"red min 15kB max 45kB", "give cloud `x` a `rate`"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *problem = trial_problem(rows[i].statement);

		if (!strstr(problem, rows[i].said))
			fail_msg("%s: %s", rows[i].statement, problem);
	}
}

/* Packets and bytes are converted by the mean size; without a unit, the unit is that of min. */
static void thresholds_are_converted_by_the_mean_packet(void **state)
{
	static const struct {
		const char *statement;
		bool bytes;
		double min, max;
	} rows[] = {
	        {"red min 15kB max 45kB", true, 15000, 45000},
	        {"red min 15pkt max 45pkt", false, 15, 45},
	        {"red min 15pkt max 45pkt unit byte", true, 15000, 45000},
	        {"red min 15kB max 45kB unit packet", false, 15, 45},
	        {"red min 15pkt max 45kB mean 500B", false, 15, 90},
	        {"red min 15kB max 45pkt mean 1500B", true, 15000, 67500},
	        {"red min 1100B max 2kB unit packet", false, 1.1, 2},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct red_setup setup = setup_of(rows[i].statement);

		assert_int_equal(setup.bytes, rows[i].bytes);
		assert_true(llabs((int64_t)(setup.min >> 40) - (int64_t)(rows[i].min * 0x1p24)) <=
		            1);
		assert_true(llabs((int64_t)(setup.max >> 40) - (int64_t)(rows[i].max * 0x1p24)) <=
		            1);
	}
}

GROUP(red_queue)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_red_decides_is_what_happens),
	        cmocka_unit_test(a_change_while_packets_flow_keeps_average_and_counts),
	        cmocka_unit_test(the_figures_shown_are_reds),
	        cmocka_unit_test(a_full_queue_drops_as_queue_full),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(wrong_words_are_refused_with_what_would_be_right),
	        cmocka_unit_test(thresholds_are_converted_by_the_mean_packet),
	};

	return cmocka_run_group_tests_name("red-queue", tests, rig_group_setup, rig_group_teardown);
}
