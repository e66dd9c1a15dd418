/* SPDX-License-Identifier: BSD-3-Clause */
/* The bands of aqm.h: which callbacks an AQM with queues of its own receives and when, where
 * packets wait, and what becomes of them when the AQM changes or is removed. */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#include "holding/log.h"
#include "link/aqm.h"

#define MBIT UINT64_C(1000000)

/* ---- two bands, for even and odd packets; the even ones go first; callbacks are recorded ---- */

static struct {
	char text[2000]; /* words and numbers: of the band, or of the packet */
	uint32_t drop;   /* depart() drops the packet of this number */
	uint32_t victim; /* the band that fullest() returns; 2: none */
	bool inherits;
} book;

struct banded {
	struct aqm aqm;
	struct log band[2];
};

static void note(const char *what, uint64_t number)
{
	size_t n = strlen(book.text);

	snprintf(book.text + n, sizeof(book.text) - n, "%s%s%lu", n ? " " : "", what, number);
}

static void assert_book(const char *expected)
{
	assert_string_equal(book.text, expected);
	book.text[0] = 0;
}

static struct log *at(struct aqm *aqm, uint32_t i)
{
	return i < 2 ? &((struct banded *)aqm)->band[i] : NULL;
}

/* The rig's frames begin with the low byte of their number. */
static struct log *choose(struct aqm *aqm, const struct packet_bytes *frame)
{
	note("choose ", frame->data[0] & 1);
	return at(aqm, frame->data[0] & 1);
}

static void entered(struct aqm *aqm, struct log *band, uint32_t wire_bytes)
{
	note("entered ", (uint64_t)(band - ((struct banded *)aqm)->band));
	assert_int_equal(wire_bytes, 100);
}

static struct log *next(struct aqm *aqm, simtime now)
{
	struct banded *banded = (struct banded *)aqm;

	(void)now;
	for (uint32_t i = 0; i < 2; i++) {
		if (banded->band[i].records)
			return &banded->band[i];
	}
	return NULL;
}

static struct log *fullest(struct aqm *aqm, bool room)
{
	struct log *band = at(aqm, book.victim);

	note(room ? "room " : "full ", band ? band->records : 0);
	return band && band->records && !room ? band : NULL;
}

static bool inherit(struct aqm *aqm, struct aqm *old)
{
	struct banded *banded = (struct banded *)aqm, *before = (struct banded *)old;

	if (!book.inherits)
		return false;
	memcpy(banded->band, before->band, sizeof(banded->band));
	memset(before->band, 0, sizeof(before->band));
	return true;
}

static void emptied(struct aqm *aqm)
{
	struct banded *banded = (struct banded *)aqm;

	note("emptied ", banded->band[0].records + banded->band[1].records);
}

static uint32_t most(const struct conf *conf)
{
	(void)conf;
	return 2;
}

static const struct aqm_bands banded_bands = {.at = at,
                                              .choose = choose,
                                              .entered = entered,
                                              .next = next,
                                              .fullest = fullest,
                                              .overflow = REASON_FULLEST,
                                              .inherit = inherit,
                                              .emptied = emptied,
                                              .most = most};

static struct aqm_verdict depart(struct aqm *aqm, const struct aqm_view *view, struct held *held,
                                 simtime now)
{
	(void)aqm;
	(void)now;
	note("depart ", held->number);
	/* the packets of all bands, and this one */
	note("of ", view->waiting_packets);
	assert_int_equal(view->waiting_bytes, view->waiting_packets * 100);
	if (held->number == book.drop)
		return (struct aqm_verdict){.action = AQM_DROP, .reason = REASON_CODEL};
	return (struct aqm_verdict){.action = AQM_PASS};
}

static void pushed_out(struct aqm *aqm, const struct aqm_view *view, struct held *held, simtime now)
{
	(void)aqm;
	(void)view;
	(void)now;
	note("out ", held->number);
}

static int banded_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	(void)conf;
	(void)cloud;
	*aqm = calloc(1, sizeof(struct banded));
	return *aqm ? 0 : -1;
}

static void banded_free(struct aqm *aqm)
{
	free(aqm);
}

static const struct aqm_kind banded_kind = {.make = banded_make,
                                            .free = banded_free,
                                            .depart = depart,
                                            .pushed_out = pushed_out,
                                            .bands = &banded_bands};

struct banded_conf {
	struct conf conf;
	uint64_t change;
};

static const struct field banded_fields[] = {
        {.name = "change", .type = FIELD_COUNT, .offset = offsetof(struct banded_conf, change)},
        FIELD_END,
};

static const struct statement banded_statement = {.name = "banded",
                                                  .role = ROLE_AQM,
                                                  .fields = banded_fields,
                                                  .conf_bytes = sizeof(struct banded_conf),
                                                  .aqm = &banded_kind};

static const struct statement *const banded_statements[] = {&rate_statement, &banded_statement,
                                                            &delay_statement, NULL};

static void put(struct rig *rig, uint64_t change)
{
	struct conf *conf = conf_make(&banded_statement);

	assert_non_null(conf);
	((struct banded_conf *)conf)->change = change;
	assert_int_equal(cloud_conf_put(rig->scenario->clouds[0], conf), 0);
	rig_apply(rig, rig->now);
}

/* 100 B take 100 us. `limit` packets may wait besides the packet that is being sent. */
static struct rig *open_banded(uint64_t limit)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .statements = banded_statements});

	memset(&book, 0, sizeof(book));
	book.victim = 2;
	rig_cloud(rig, "x", 0, 1);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, limit);
	put(rig, 0);
	return rig;
}

static void assert_left(struct rig *rig, const uint64_t *numbers, uint32_t n)
{
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(rig->departures[i].number, numbers[i]);
		assert_true(rig->departures[i].intact);
	}
}

/* ---- claims ---- */

static void a_packet_waits_in_the_band_that_it_chose_and_its_turn_is_the_bands(void **state)
{
	static const uint64_t numbers[] = {1, 2, 4, 3, 5};
	struct rig *rig = open_banded(10);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		rig_send(rig, 0, 100, 1000);
	assert_book("choose 1 entered 1 depart 1 of 1 choose 0 entered 0 choose 1 entered 1 "
	            "choose 0 entered 0 choose 1 entered 1");
	/* all bands count together */
	assert_int_equal(rig_report(rig, "x")->queue_packets, 4);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 400);
	assert_int_equal(rig_report(rig, "x")->held_packets, 5);
	assert_left(rig, numbers, 5);
	assert_book("depart 2 of 4 depart 4 of 3 depart 3 of 2 depart 5 of 1");
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(rig->departures[i].due_ns, 1000 + (i + 1) * 100000);
	rig_close(rig);
}

static void after_a_drop_the_bands_are_asked_again_at_the_same_instant(void **state)
{
	static const uint64_t numbers[] = {1, 3};
	struct rig *rig = open_banded(10);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		rig_send(rig, 0, 100, 1000);
	book.drop = 2;
	assert_left(rig, numbers, 2);
	assert_int_equal(rig->departures[1].due_ns, 201000);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_CODEL], 1);
	rig_close(rig);
}

/* Four packets wait, and no more may. For the fifth, the front of the band that the AQM names is
 * dropped. If it names none, the fifth is dropped itself, and has not entered. */
static void a_full_queue_asks_whose_front_goes(void **state)
{
	static const uint64_t numbers[] = {1, 2, 4, 6, 5};
	struct rig *rig = open_banded(4);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		rig_send(rig, 0, 100, 1000);
	book.text[0] = 0;
	book.victim = 1;
	rig_send(rig, 0, 100, 1000);
	assert_book("choose 0 full 2 out 3 room 1 entered 0");
	book.victim = 2;
	rig_send(rig, 0, 100, 1000);
	assert_book("choose 1 full 0");
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_FULLEST], 1);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_QUEUE_FULL], 1);
	assert_left(rig, numbers, 5);
	rig_close(rig);
}

/* Packets that wait when the AQM comes into force are not sorted, and cause no callbacks. Packets
 * in its bands stay there over a change that inherits. After another change, or when the AQM is
 * removed, they leave band by band. */
static void a_change_keeps_what_waits(void **state)
{
	static const struct {
		bool inherits, goes;
		const char *told;
		uint64_t numbers[9];
	} rows[] = {
	        {true, false, "", {1, 2, 3, 4, 6, 8, 5, 7, 9}},
	        {false, false, "emptied 0", {1, 2, 3, 4, 6, 5, 7, 8, 9}},
	        {false, true, "emptied 0", {1, 2, 3, 4, 6, 5, 7, 8, 9}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = open_banded(20);

		rig_unset(rig, "x", "banded");
		rig_apply(rig, 0);
		for (uint32_t k = 0; k < 3; k++)
			rig_send(rig, 0, 100, 1000);
		put(rig, 0);
		for (uint32_t k = 0; k < 4; k++)
			rig_send(rig, 0, 100, 2000);
		book.text[0] = 0;
		book.inherits = rows[i].inherits;
		if (rows[i].goes) {
			rig_unset(rig, "x", "banded");
			rig_apply(rig, rig->now);
		} else {
			put(rig, 1);
		}
		assert_book(rows[i].told);
		for (uint32_t k = 0; k < 2; k++)
			rig_send(rig, 0, 100, 3000);
		assert_left(rig, rows[i].numbers, 9);
		rig_close(rig);
	}
}

GROUP(aqm_bands)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                a_packet_waits_in_the_band_that_it_chose_and_its_turn_is_the_bands),
	        cmocka_unit_test(after_a_drop_the_bands_are_asked_again_at_the_same_instant),
	        cmocka_unit_test(a_full_queue_asks_whose_front_goes),
	        cmocka_unit_test(a_change_keeps_what_waits),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
