/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of aqm.h: the callbacks that an AQM receives, their order, and the effects of its
 * verdicts. */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>

#include "holding/hold.h"
#include "link/aqm.h"

#define MBIT UINT64_C(1000000)

/* ---- an AQM that records its callbacks, and returns the verdicts that the test sets ---- */

enum told { TOLD_ARRIVE, TOLD_SETTLED, TOLD_DEPART, TOLD_IDLE };

struct entry {
	enum told told;
	simtime now;
	uint64_t waiting_bytes, held_packets; /* in TOLD_DEPART: the sojourn time, and the rest */
	uint32_t wire_bytes;
	enum aqm_outcome outcome;
};

static struct {
	struct entry entries[256];
	uint32_t n;
	struct aqm_verdict arrive, depart[16]; /* depart: of the next packets, in order */
	uint32_t departs;
} book;

static struct entry *note(enum told told, simtime now)
{
	assert_true(book.n < LENGTH(book.entries));
	book.entries[book.n] = (struct entry){.told = told, .now = now};
	return &book.entries[book.n++];
}

static struct entry *note_view(enum told told, const struct aqm_view *view, simtime now)
{
	struct entry *entry = note(told, now);

	entry->waiting_bytes = view->waiting_bytes;
	entry->held_packets = view->held_packets;
	entry->wire_bytes = view->wire_bytes;
	return entry;
}

static uint16_t probe_arrive(struct aqm *aqm, const struct aqm_view *view,
                             const struct aqm_group *group, struct aqm_verdict *verdict)
{
	(void)aqm;
	note_view(TOLD_ARRIVE, view, group->now);
	*verdict = book.arrive;
	return book.arrive.action == AQM_PASS;
}

static void probe_settled(struct aqm *aqm, const struct aqm_view *view, struct burst *burst,
                          uint16_t i, enum aqm_outcome outcome)
{
	(void)aqm;
	note_view(TOLD_SETTLED, view, burst_t(burst, i))->outcome = outcome;
}

static struct aqm_verdict probe_depart(struct aqm *aqm, const struct aqm_view *view,
                                       struct held *held, simtime now)
{
	struct entry *entry = note_view(TOLD_DEPART, view, now);

	(void)aqm;
	entry->waiting_bytes = now - held->t_ns;
	return book.depart[book.departs++ % LENGTH(book.depart)];
}

static void probe_idle(struct aqm *aqm, simtime now)
{
	(void)aqm;
	note(TOLD_IDLE, now);
}

static enum marking probe_look(const struct packet_bytes *frame, struct ce_place *place)
{
	place->at = frame->data;
	return frame->bytes > 110 ? MARKING_POSSIBLE : MARKING_NONE;
}

static void probe_set(const struct ce_place *place)
{
	place->at[100] ^= 0xff;
}

static const struct aqm_marker probe_marker = {.look = probe_look, .set = probe_set};

static int probe_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	(void)conf;
	(void)cloud;
	*aqm = calloc(1, sizeof(**aqm));
	(*aqm)->marker = &probe_marker;
	return 0;
}

static void probe_free(struct aqm *aqm)
{
	free(aqm);
}

static double probe_average(const struct aqm *aqm)
{
	return (double)aqm->drawn + 0.5;
}

static const struct aqm_kind probe_kind = {
        .make = probe_make,
        .free = probe_free,
        .arrive = probe_arrive,
        .settled = probe_settled,
        .depart = probe_depart,
        .idle = probe_idle,
        .average = probe_average,
};

struct probe_conf {
	struct conf conf;
	uint64_t change;
};

static const struct field probe_fields[] = {
        {.name = "change", .type = FIELD_COUNT, .offset = offsetof(struct probe_conf, change)},
        FIELD_END,
};

static const struct statement probe_statement = {
        .name = "probe",
        .role = ROLE_AQM,
        .fields = probe_fields,
        .conf_bytes = sizeof(struct probe_conf),
        .aqm = &probe_kind,
};

static const struct statement *const probe_statements[] = {&rate_statement, &probe_statement,
                                                           &delay_statement, NULL};

static void put_probe(struct rig *rig, uint64_t change)
{
	struct conf *conf = conf_make(&probe_statement);

	assert_non_null(conf);
	((struct probe_conf *)conf)->change = change;
	assert_int_equal(cloud_conf_put(rig->scenario->clouds[0], conf), 0);
}

/* The rate is a byte a microsecond. */
static struct rig *probed(uint64_t burst_bytes, uint64_t limit_packets)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .statements = probe_statements});

	memset(&book, 0, sizeof(book));
	rig_cloud(rig, "x", 0, 1);
	rig_rate(rig, "x", 8 * MBIT, burst_bytes, LIMIT_PACKETS, limit_packets);
	put_probe(rig, 0);
	rig_apply(rig, 0);
	return rig;
}

static void assert_told(const struct entry *expected, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < book.n; i++) {
		const struct entry *a = &book.entries[i], *b = &expected[i];

		if (a->told != b->told || a->now != b->now ||
		    a->waiting_bytes != b->waiting_bytes || a->held_packets != b->held_packets ||
		    a->wire_bytes != b->wire_bytes || a->outcome != b->outcome)
			fail_msg("entry %u: told %d at %lu, %lu waiting, %lu held, %u B, outcome "
			         "%d",
			         i, a->told, a->now, a->waiting_bytes, a->held_packets,
			         a->wire_bytes, a->outcome);
	}
	assert_int_equal(book.n, n);
}

/* The leaky bucket takes a packet when its transmission begins. */
static void a_leaky_bucket_takes_a_packet_when_it_begins_to_send_it(void **state)
{
	static const struct entry expected[] = {
	        {TOLD_IDLE, 0, 0, 0, 0, 0},
	        {TOLD_ARRIVE, 1000, 0, 0, 100, 0},
	        {TOLD_SETTLED, 1000, 0, 0, 100, AQM_QUEUED},
	        {TOLD_DEPART, 1000, 0, 1, 100, 0},
	        {TOLD_ARRIVE, 2000, 0, 1, 300, 0},
	        {TOLD_SETTLED, 2000, 0, 1, 300, AQM_QUEUED},
	        {TOLD_ARRIVE, 3000, 300, 2, 400, 0},
	        {TOLD_SETTLED, 3000, 300, 2, 400, AQM_QUEUED},
	        {TOLD_DEPART, 101000, 99000, 2, 300, 0},
	        {TOLD_DEPART, 401000, 398000, 1, 400, 0},
	        {TOLD_IDLE, 801000, 0, 0, 0, 0},
	};
	struct rig *rig = probed(0, 10);

	(void)state;
	rig_send(rig, 0, 100, 1000);
	rig_send(rig, 0, 300, 2000);
	rig_send(rig, 0, 400, 3000);
	rig_run_out(rig);
	assert_told(expected, LENGTH(expected));
	rig_close(rig);
}

/* The token bucket takes a packet when the packet before it has left; the packet counts as waiting
 * until it leaves. */
static void a_token_bucket_takes_a_packet_when_the_one_before_it_has_left(void **state)
{
	static const struct entry expected[] = {
	        {TOLD_IDLE, 0, 0, 0, 0, 0},
	        {TOLD_ARRIVE, 1000, 0, 0, 100, 0},
	        {TOLD_SETTLED, 1000, 0, 0, 100, AQM_QUEUED},
	        {TOLD_DEPART, 1000, 0, 1, 100, 0},
	        {TOLD_IDLE, 1000, 0, 0, 0, 0}, /* there were tokens for it */
	        {TOLD_ARRIVE, 2000, 0, 0, 300, 0},
	        {TOLD_SETTLED, 2000, 0, 0, 300, AQM_QUEUED},
	        {TOLD_DEPART, 2000, 0, 1, 300, 0},
	        {TOLD_ARRIVE, 3000, 300, 1, 400, 0},
	        {TOLD_SETTLED, 3000, 300, 1, 400, AQM_QUEUED},
	        {TOLD_DEPART, 301000, 298000, 1, 400, 0},
	        {TOLD_IDLE, 701000, 0, 0, 0, 0},
	};
	struct rig *rig = probed(100, 10);

	(void)state;
	rig_send(rig, 0, 100, 1000);
	rig_send(rig, 0, 300, 2000);
	rig_send(rig, 0, 400, 3000);
	rig_run_out(rig);
	assert_told(expected, LENGTH(expected));
	assert_int_equal(rig->departures[1].due_ns, 301000);
	assert_int_equal(rig->departures[2].due_ns, 701000);
	rig_close(rig);
}

static void what_is_dropped_when_it_is_taken_leaves_its_time_to_the_next(void **state)
{
	struct rig *rig = probed(0, 10);

	(void)state;
	book.depart[1] = book.depart[2] =
	        (struct aqm_verdict){.action = AQM_DROP, .reason = REASON_RED_FORCED};
	for (uint32_t i = 0; i < 5; i++)
		rig_send(rig, 0, 100, 1000);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 3);
	assert_int_equal(rig->departures[0].number, 1);
	assert_int_equal(rig->departures[1].number, 4);
	assert_int_equal(rig->departures[1].due_ns, 201000);
	assert_int_equal(rig->departures[2].due_ns, 301000);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_RED_FORCED], 2);
	rig_close(rig);
}

static void a_queue_that_is_emptied_by_drops_is_idle_from_then_on(void **state)
{
	struct rig *rig = probed(0, 10);
	const struct entry *last;

	(void)state;
	book.depart[1] = book.depart[2] =
	        (struct aqm_verdict){.action = AQM_DROP, .reason = REASON_RED_FORCED};
	for (uint32_t i = 0; i < 3; i++)
		rig_send(rig, 0, 100, 1000);
	rig_run_out(rig);
	last = &book.entries[book.n - 1];
	assert_int_equal(last->told, TOLD_IDLE);
	assert_int_equal(last->now, 101000);
	assert_int_equal(rig_report(rig, "x")->held_packets, 0);
	rig_send(rig, 0, 100, 200000);
	rig_run_out(rig);
	assert_int_equal(rig->departures[1].due_ns, 300000);
	rig_close(rig);
}

static void verdicts_at_arrival_come_ahead_of_the_limit(void **state)
{
	static const struct {
		enum aqm_action action;
		uint32_t bytes;
		bool full;
		enum aqm_outcome outcome;
		enum reason reason; /* REASON_COUNT: queued */
		uint64_t marked;
	} rows[] = {
	        {AQM_PASS, 300, false, AQM_QUEUED, REASON_COUNT, 0},
	        {AQM_PASS, 300, true, AQM_OVERFLOWED, REASON_QUEUE_FULL, 0},
	        {AQM_MARK, 300, false, AQM_MARKED, REASON_COUNT, 1},
	        {AQM_MARK, 300, true, AQM_OVERFLOWED, REASON_QUEUE_FULL, 0},
	        {AQM_MARK, 100, false, AQM_UNMARKABLE, REASON_RED_EARLY, 0},
	        {AQM_MARK, 100, true, AQM_UNMARKABLE, REASON_RED_EARLY, 0},
	        {AQM_DROP, 300, false, AQM_DROPPED, REASON_RED_EARLY, 0},
	        {AQM_DROP, 300, true, AQM_DROPPED, REASON_RED_EARLY, 0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = probed(0, 2);
		const struct counters *counters;

		for (uint32_t k = 0; k < (rows[i].full ? 3 : 2); k++)
			rig_send(rig, 0, 300, 0);
		book.arrive =
		        (struct aqm_verdict){.action = rows[i].action, .reason = REASON_RED_EARLY};
		rig_send(rig, 0, rows[i].bytes, 1000);
		assert_int_equal(book.entries[book.n - 1].told, TOLD_SETTLED);
		assert_int_equal(book.entries[book.n - 1].outcome, rows[i].outcome);
		counters = &rig_report(rig, "x")->counters;
		assert_int_equal(counters_drops(counters), rows[i].reason != REASON_COUNT);
		if (rows[i].reason != REASON_COUNT)
			assert_int_equal(counters->drops[rows[i].reason], 1);
		assert_int_equal(counters->ecn_marked, rows[i].marked);
		rig_run_out(rig);
		for (uint32_t k = 0; k < rig->n_departures; k++)
			assert_int_equal(rig->departures[k].intact,
			                 rig->departures[k].number != 3 || !rows[i].marked);
		rig_close(rig);
	}
}

/* Whichever mbufs hold the packet, and whether its bytes are shared or not: only this packet's
 * bytes are changed. */
static void a_mark_is_on_the_packet_and_on_nobody_elses(void **state)
{
	(void)state;
	for (int shape = 0; shape < RIG_SHAPES; shape++) {
		for (uint32_t bytes = 390; bytes <= 1500; bytes += 1110) {
			for (int at_depart = 0; at_depart < 2; at_depart++) {
				struct rig *rig = probed(0, 10);
				struct aqm_verdict verdict = {.action = AQM_MARK};
				struct rte_mbuf *mbuf;

				/* rig_close compares the bytes of the other owner */
				if (at_depart)
					book.depart[0] = verdict;
				else
					book.arrive = verdict;
				mbuf = rig_packet(rig, (enum rig_shape)shape, 0, rig->sent + 1,
				                  bytes, 0, 1000);
				rig_ingress(rig, &mbuf, 1);
				rig_run_out(rig);
				assert_int_equal(rig->n_departures, 1);
				assert_false(rig->departures[0].intact);
				assert_int_equal(rig_report(rig, "x")->counters.ecn_marked, 1);
				rig_close(rig);
			}
		}
	}
}

static void another_configuration_goes_on_with_the_draws(void **state)
{
	struct rig *rig = probed(0, 10);

	(void)state;
	rig_send(rig, 0, 100, 0);
	rig_send(rig, 0, 100, 0);
	assert_true(rig_report(rig, "x")->queue_average_bytes == 2.5);
	put_probe(rig, 1);
	rig_apply(rig, 10);
	assert_true(rig_report(rig, "x")->queue_average_bytes == 2.5);
	rig_unset(rig, "x", "probe");
	rig_apply(rig, 20);
	assert_true(rig_report(rig, "x")->queue_average_bytes == 100);
	rig_run_out(rig);
	rig_close(rig);
}

GROUP(aqm)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_leaky_bucket_takes_a_packet_when_it_begins_to_send_it),
	        cmocka_unit_test(a_token_bucket_takes_a_packet_when_the_one_before_it_has_left),
	        cmocka_unit_test(what_is_dropped_when_it_is_taken_leaves_its_time_to_the_next),
	        cmocka_unit_test(a_queue_that_is_emptied_by_drops_is_idle_from_then_on),
	        cmocka_unit_test(verdicts_at_arrival_come_ahead_of_the_limit),
	        cmocka_unit_test(a_mark_is_on_the_packet_and_on_nobody_elses),
	        cmocka_unit_test(another_configuration_goes_on_with_the_draws),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
