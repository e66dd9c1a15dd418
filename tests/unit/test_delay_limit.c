/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `delay ... limit N`: packets that arrive while the cloud holds N packets are dropped. The number
 * held at an instant follows from the fates of the packets before, which a witness receives: those
 * that were let in, and are due later. So each case is played, and every drop and every packet let
 * in is compared with that count.
 */
#include "account/witness.h"
#include "trial.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#define PACKETS 3000
#define FATES   (2 * PACKETS)

struct told {
	uint64_t packet;
	bool limited, delivered;
	uint8_t flags;
	enum reason reason;
	simtime t_in, t_out;
};

/* The witness of a run. */
struct notebook {
	struct witness witness; /* first */
	uint32_t n;
	struct told told[FATES];
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct notebook *book = (struct notebook *)witness;

	assert_true(book->n < FATES);
	book->told[book->n++] = (struct told){
	        .packet = fate->packet,
	        .delivered = fate->kind == FATE_DELIVERED,
	        .limited = fate->kind == FATE_DROPPED && fate->reason == REASON_LIMIT,
	        .reason = fate->kind == FATE_DROPPED ? fate->reason : 0,
	        .flags = fate->flags,
	        .t_in = fate->t_in_ns,
	        .t_out = fate->kind == FATE_DELIVERED ? fate->t_out_ns : fate->t_in_ns,
	};
}

static int by_packet(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->packet != y->packet)
		return x->packet < y->packet ? -1 : 1;
	return (x->flags > y->flags) - (x->flags < y->flags);
}

struct limit_case {
	const char *name;
	uint64_t limit;
	const char *first[5];
	bool two; /* another cloud leads to the same port: they are shared */
};

/* A statement that takes effect from the packet of this number on. */
struct change_case {
	uint64_t packet;
	const char *statement;
};

static const struct limit_case cases[] = {
        {"constant", 20, {"delay 2ms limit 20pkt", NULL}, false},
        {"keep", 30, {"delay 2ms jitter 1ms limit 30pkt", NULL}, false},
        {"allow",
         30,
         {"delay 2ms jitter 2ms distribution normal order allow limit 30pkt", NULL},
         false},
        {"one", 1, {"delay 100us jitter 90us order allow limit 1pkt", NULL}, false},
        {"shared", 30, {"delay 2ms jitter 1ms limit 30pkt", NULL}, true},
        {"shared, allow", 30, {"delay 2ms jitter 2ms order allow limit 30pkt", NULL}, true},
        {"link", 30, {"rate 20mbit queue 1MB", "delay 2ms limit 30pkt", NULL}, false},
        {"bucket",
         25,
         {"rate 20mbit algorithm token-bucket burst 4kB queue 1MB", "delay 1ms limit 25pkt", NULL},
         false},
        {"slots", 25, {"slots min 500us max 1ms", "delay 1ms limit 25pkt", NULL}, false},
        {"held back", 20, {"reorder random 20% by 3pkt", "delay 2ms limit 20pkt", NULL}, false},
        {"held back, link",
         20,
         {"reorder every 5", "rate 20mbit queue 1MB", "delay 1ms limit 20pkt", NULL},
         true},
        {"early", 20, {"delay 2ms limit 20pkt", "reorder 25% 50% gap 5", NULL}, false},
        {"stages",
         20,
         {"loss random 10%", "corrupt random 20% bits 2", "delay 2ms limit 20pkt", NULL},
         false},
        {"longer for a while",
         20,
         {"wave delay 1ms..4ms period 20ms", "delay 2ms limit 20pkt", NULL},
         false},
};

static void put(struct rig *rig, const char *statement)
{
	struct problem problem;
	struct conf *conf = trial_conf(statement);

	if (conf->statement->check &&
	    conf->statement->check(conf, rig->scenario->clouds[0], &problem) != 0)
		fail_msg("%s: %s", statement, problem.text);
	rig_put(rig, "x", conf);
}

/* Packets in pairs and alone, 60 us apart on average. */
static simtime arrival(uint64_t i)
{
	return 1000000 + (i & ~UINT64_C(1)) * 60000 + (i % 4 == 3 ? 60000 : 0);
}

/* Plays a case in bursts of this size. Polls after every `poll` packets; 0: only at the end. */
static void play(const struct limit_case *row, const struct change_case *change, uint16_t burst,
                 uint32_t poll, struct notebook *book)
{
	struct rig *rig;
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n = 0;

	book->witness.tell = tell;
	book->n = 0;
	rig = rig_open(&(struct rig_setup){.seed = 11, .witness = &book->witness});
	rig_cloud(rig, "x", 0, 1);
	if (row->two)
		rig_cloud(rig, "y", 2, 1);
	for (const char *const *first = row->first; *first; first++)
		put(rig, *first);
	rig_apply(rig, 0);
	for (uint64_t i = 1; i <= PACKETS; i++) {
		if (change && change->packet == i) {
			rig_ingress(rig, mbufs, n);
			n = 0;
			put(rig, change->statement);
			rig_apply(rig, arrival(i));
			change++;
		}
		mbufs[n++] = rig_packet(rig, RIG_PLAIN, 0, i, 60 + i % 300, 0, arrival(i));
		if (n == burst) {
			rig_ingress(rig, mbufs, n);
			n = 0;
		}
		if (poll && i % poll == 0 && n == 0)
			rig_advance(rig, arrival(i));
	}
	rig_ingress(rig, mbufs, n);
	rig_run_out(rig);
	if (row->limit)
		assert_true(rig_report(rig, "x")->counters.drops[REASON_LIMIT] > 0);
	rig_close(rig);
	qsort(book->told, book->n, sizeof(*book->told), by_packet);
}

static uint64_t held_before(const struct notebook *book, uint32_t i)
{
	uint64_t held = 0;

	for (uint32_t k = 0; k < i; k++)
		held += book->told[k].delivered && book->told[k].t_out > book->told[i].t_in;
	return held;
}

static void what_comes_while_so_many_are_held_is_dropped_and_nothing_else(void **state)
{
	static struct notebook book;

	(void)state;
	for (size_t c = 0; c < LENGTH(cases); c++) {
		uint32_t dropped = 0, full = 0;

		play(&cases[c], NULL, 1, 1, &book);
		for (uint32_t i = 0; i < book.n; i++) {
			const struct told *told = &book.told[i];
			uint64_t held = held_before(&book, i);

			/* Packets that were lost before they came so far do not matter. */
			if (!told->delivered && !told->limited)
				continue;
			if (told->limited != (held >= cases[c].limit))
				fail_msg("%s: packet %lu %s with %lu of %lu held", cases[c].name,
				         told->packet, told->limited ? "dropped" : "let in", held,
				         cases[c].limit);
			dropped += told->limited;
			full += held == cases[c].limit;
		}
		assert_int_equal(dropped, full);
		assert_true(dropped > 100 && dropped < PACKETS - 100);
	}
}

static void assert_same(const char *name, const struct notebook *a, const struct notebook *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct told *x = &a->told[i], *y = &b->told[i];

		if (x->packet != y->packet || x->delivered != y->delivered ||
		    x->reason != y->reason || x->t_out != y->t_out)
			fail_msg("%s: packet %lu: reason %d out %lu, and reason %d out %lu", name,
			         x->packet, x->reason, x->t_out, y->reason, y->t_out);
	}
}

static const struct change_case changes[] = {
        {700, "delay 2ms jitter 1ms limit 5pkt"},
        {1100, "delay 2ms jitter 2ms order allow limit 40pkt"},
        {1800, "delay 3ms"},
        {2300, "delay 1ms limit 8pkt"},
        {0, NULL},
};

static void neither_bursts_nor_late_polls_change_what_is_dropped(void **state)
{
	static const struct {
		uint16_t burst;
		uint32_t poll;
	} rows[] = {{1, 0}, {7, 49}, {7, 0}, {32, 32}, {32, 0}, {32, 1024}};
	static struct notebook one, other;

	(void)state;
	for (size_t c = 0; c < LENGTH(cases); c++) {
		for (int changing = 0; changing < 2; changing++) {
			play(&cases[c], changing ? changes : NULL, 1, 1, &one);
			for (size_t i = 0; i < LENGTH(rows); i++) {
				play(&cases[c], changing ? changes : NULL, rows[i].burst,
				     rows[i].poll, &other);
				assert_same(cases[c].name, &one, &other);
			}
		}
	}
}

/* Five packets with a delay of 10 ms, one a millisecond: the sixth to tenth find five held. The
 * eleventh comes when the first is due. */
static void a_packet_counts_until_its_due_time_and_not_at_it(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	put(rig, "delay 10ms limit 5pkt");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 40; i++)
		rig_send(rig, 0, 100, i * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(rig->departures[i].number, 1 + i / 5 * 10 + i % 5);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_LIMIT], 20);
	assert_int_equal(reason_kind(REASON_LIMIT), REASON_CONGESTION);
	rig_close(rig);
}

static void a_limit_that_changes_holds_for_what_comes_and_keeps_what_is_held(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	put(rig, "delay 100ms limit 8pkt");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 10; i++)
		rig_send(rig, 0, 100, i);
	put(rig, "delay 100ms limit 3pkt");
	rig_apply(rig, 50);
	rig_send(rig, 0, 100, 51); /* dropped: eight are held */
	put(rig, "delay 100ms limit 9pkt");
	rig_apply(rig, 60);
	rig_send(rig, 0, 100, 61); /* the ninth */
	rig_send(rig, 0, 100, 62); /* dropped */
	put(rig, "delay 100ms");
	rig_apply(rig, 70);
	rig_send(rig, 0, 100, 71);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 10);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_LIMIT], 4);
	rig_close(rig);
}

static void what_takes_no_time_is_never_held(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	put(rig, "delay 0ms limit 1pkt");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 100, i / 10);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 100);
	rig_close(rig);
}

static void a_limit_is_a_number_of_packets(void **state)
{
	struct conf *conf = trial_conf("delay 10ms limit 15kB");
	struct problem problem;

	(void)state;
	assert_int_equal(conf->statement->check(conf, NULL, &problem), -22);
	assert_string_equal(problem.text,
	                    "the limit of a delay is a number of packets; write it like 1000pkt");
	conf_free(conf);
}

GROUP(delay_limit)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_comes_while_so_many_are_held_is_dropped_and_nothing_else),
	        cmocka_unit_test(neither_bursts_nor_late_polls_change_what_is_dropped),
	        cmocka_unit_test(a_packet_counts_until_its_due_time_and_not_at_it),
	        cmocka_unit_test(a_limit_that_changes_holds_for_what_comes_and_keeps_what_is_held),
	        cmocka_unit_test(what_takes_no_time_is_never_held),
	        cmocka_unit_test(a_limit_is_a_number_of_packets),
	};

	return cmocka_run_group_tests_name("delay_limit", tests, rig_group_setup,
	                                   rig_group_teardown);
}
