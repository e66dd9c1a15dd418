/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of stages, AQMs and schedules is written to a snapshot and read from it: an engine that
 * read a snapshot continues like the one that wrote it. An impossible snapshot is refused, and
 * never does harm. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cloud.h"
#include "engine/engine_snapshot.h"
#include "engine/engine_state.h"
#include "engine/timeline.h"
#include "frame.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "match/flows.h"
#include "runner/group.h"
#include "snapshot/snapshot.h"
#include "snapshot_rig.h"

/* ---- engines ---- */

/* Calls all snapshot functions that this file tests, for a cloud that holds nothing. */
static void look(struct rig *rig, struct snapshot *snapshot)
{
	struct cloud *cloud = cloud_of(rig);
	struct timeline *timeline = cloud->timeline;

	for (uint16_t i = 0; i < cloud->n_stages; i++)
		stage_snapshot(cloud->stages[i], snapshot);
	for (uint32_t i = 0; timeline && i < timeline->n; i++) {
		if (timeline->track[i]->snapshot)
			timeline->track[i]->snapshot(timeline->track[i], snapshot);
	}
	if (snapshot_same(snapshot, cloud->link.queue.aqm != NULL))
		aqm_snapshot(cloud->link.queue.aqm, snapshot);
	if (snapshot_same(snapshot, cloud->flows != NULL))
		flows_snapshot(cloud->flows, snapshot);
	if (snapshot_same(snapshot, cloud->line_flows != NULL))
		flows_snapshot(cloud->line_flows, snapshot);
}

static uint8_t bytes[BYTES], bytes_of_other[BYTES];

static size_t take(struct rig *rig, uint8_t *to)
{
	struct snapshot snapshot = {.at = to, .end = to + BYTES};

	look(rig, &snapshot);
	assert_false(snapshot.failed);
	return (size_t)(snapshot.at - to);
}

/* Returns true if the snapshot was read to its end. `from` has exactly n bytes. */
static bool restore(struct rig *rig, uint8_t *from, size_t n)
{
	struct snapshot snapshot = {.at = from, .end = from + n, .restores = true};

	look(rig, &snapshot);
	return !snapshot.failed && snapshot.at == snapshot.end;
}

/* Opens another engine, and brings it to the instant of this one. The state of a cloud that other
 * functions write is copied. */
static struct rig *follow(struct rig *rig, const char *words)
{
	struct rig *other = engine_open(words);
	struct cloud *cloud = cloud_of(other);

	other->sent = rig->sent;
	other->now = rig->now;
	other->cleared = rig->n_departures;
	cloud->counters = cloud_of(rig)->counters;
	cloud->latest_number = cloud_of(rig)->latest_number;
	cloud->drawn_most = cloud_of(rig)->drawn_most;
	if (cloud->timeline)
		timeline_keep_up(cloud, rig->now);
	return other;
}

static struct rig *half_way(const char *words)
{
	struct rig *rig = engine_open(words);

	traffic_play(rig, 1, BEFORE, SIMTIME_MS);
	rig_advance(rig, rig->now + 7 * SIMTIME_US);
	if (cloud_of(rig)->timeline)
		timeline_keep_up(cloud_of(rig), rig->now);
	return rig;
}

/* ---- the claims ---- */

/* Asserts that both report the same. */
static void assert_same_figures(struct rig *rig, struct rig *other, const char *words)
{
	const struct aqm_report a = rig_report(rig, "x")->aqm, b = rig_report(other, "x")->aqm;

	assert_int_equal(a.n_figures, b.n_figures);
	for (uint32_t i = 0; i < a.n_figures; i++) {
		if (memcmp(&a.figures[i].value, &b.figures[i].value, sizeof(double)) != 0)
			fail_msg("%s: %s is %g, and %g", words, a.figures[i].name,
			         a.figures[i].value, b.figures[i].value);
	}
	for (uint16_t i = 0; i < cloud_of(rig)->n_stages; i++) {
		struct stage *one = cloud_of(rig)->stages[i], *two = cloud_of(other)->stages[i];
		struct observed seen = {0}, seen_by_other = {0};

		if (!one->statement->report)
			continue;
		one->statement->report(one, &seen);
		two->statement->report(two, &seen_by_other);
		if (memcmp(&seen, &seen_by_other, sizeof(seen)) != 0)
			fail_msg("%s: they have observed other things", words);
	}
}

static void who_reads_one_goes_on_as_who_wrote_it(void **state)
{
	const char *words;

	(void)state;
	for (size_t i = 0; (words = remembering(i)) != NULL; i++) {
		struct rig *rig = half_way(words), *other = follow(rig, words);
		uint32_t departures = rig->n_departures;
		size_t n = take(rig, bytes);

		if (!restore(other, bytes, n))
			fail_msg("%s: refused", words);
		assert_same_figures(rig, other, words);
		traffic_play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
		traffic_play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
		assert_same_departures(rig, departures, other, words);
		assert_memory_equal(&cloud_of(rig)->counters, &cloud_of(other)->counters,
		                    sizeof(struct counters));
		n = take(rig, bytes);
		assert_int_equal(take(other, bytes_of_other), n);
		if (memcmp(bytes, bytes_of_other, n) != 0)
			fail_msg("%s: they remember other things in the end", words);
		assert_same_figures(rig, other, words);
		rig_close(rig);
		rig_close(other);
	}
}

/* Returns false if the only state of all statements is the number of draws. */
static bool remembers(const struct cloud *cloud)
{
	bool any = cloud->timeline || cloud->link.queue.aqm;

	for (uint16_t i = 0; i < cloud->n_stages; i++)
		any |= cloud->stages[i]->statement->snapshot != NULL;
	return any;
}

/* Otherwise the claim above would also hold for statements without state. */
static void who_knows_only_what_was_drawn_goes_on_otherwise(void **state)
{
	const char *words;

	(void)state;
	for (size_t i = 0; (words = remembering(i)) != NULL; i++) {
		struct rig *rig = half_way(words), *other = follow(rig, words);
		struct cloud *cloud = cloud_of(rig), *fresh = cloud_of(other);
		size_t n = take(rig, bytes);
		bool same;

		for (uint16_t s = 0; s < cloud->n_stages; s++)
			fresh->stages[s]->drawn = cloud->stages[s]->drawn;
		if (cloud->link.queue.aqm)
			fresh->link.queue.aqm->drawn = cloud->link.queue.aqm->drawn;
		same = take(other, bytes_of_other) == n && memcmp(bytes, bytes_of_other, n) == 0;
		if (same != !remembers(cloud))
			fail_msg("%s: %s", words, same ? "the packets left no trace" : "a trace");
		rig_close(rig);
		rig_close(other);
	}
}

/* Each part is in memory of exactly its size, so that a sanitizer detects reads beyond. */
static void one_that_is_cut_is_refused(void **state)
{
	const char *words;

	(void)state;
	for (size_t i = 0; (words = remembering(i)) != NULL; i++) {
		struct rig *rig = half_way(words), *other = follow(rig, words);
		size_t n = take(rig, bytes);

		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *part = malloc(cut + 1);

			assert_non_null(part);
			memcpy(part + 1, bytes, cut);
			if (restore(other, part + 1, cut))
				fail_msg("%s: %zu of %zu bytes are enough", words, cut, n);
			free(part);
			if (n < 1200) {
				rig_close(other);
				other = follow(rig, words);
			}
		}
		rig_close(rig);
		rig_close(other);
	}
}

/* If the damaged snapshot is not refused, the engine goes on, and comes to an end. */
static void one_that_is_damaged_does_no_harm(void **state)
{
	const char *words;
	const uint32_t rounds = getenv("WEIR_SANITIZED") ? 30 : 150;
	uint64_t number = 0, read = 0, refused = 0;

	(void)state;
	for (size_t i = 0; (words = remembering(i)) != NULL; i++) {
		struct rig *rig = half_way(words);
		size_t n = take(rig, bytes);

		for (uint32_t round = 0; n > 0 && round < rounds; round++) {
			struct rig *other = follow(rig, words);
			uint32_t times = 1 + round % 4;

			memcpy(bytes_of_other, bytes, n);
			for (uint32_t k = 0; k < times; k++) {
				uint64_t draw = draw_u64(traffic_draws, number++, 7);

				bytes_of_other[draw % n] = round % 3 ? (uint8_t)(draw >> 40)
				                                     : (draw >> 41 & 1 ? 255 : 0);
			}
			if (restore(other, bytes_of_other, n)) {
				traffic_play(other, BEFORE, BEFORE + 300, other->now + SIMTIME_US);
				read++;
			} else {
				refused++;
			}
			rig_close(other);
		}
		rig_close(rig);
	}
	assert_true(read > 100 && refused > 100);
}

static void no_statement_takes_over_what_it_does_not_write_down(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		const struct statement *s = *row;

		if (s->adopt && !s->snapshot)
			fail_msg("%s %s adopts", s->name, s->variant ? s->variant : "");
		if (s->aqm && s->aqm->adopt && !s->aqm->snapshot)
			fail_msg("%s adopts", s->name);
		if (s->aqm && s->aqm->bands && !s->aqm->bands->fits)
			fail_msg("%s has bands, and nobody asks whether they fit", s->name);
		n += s->adopt || (s->aqm && s->aqm->adopt);
	}
	assert_true(n > 15);
}

/* ---- bands ---- */

/* An AQM with bands, and a queue by hand, without an engine that has its counts. */
struct pen {
	struct rig *rig;
	struct aqm *aqm;
	struct arena *arena;
	uint64_t packets, held_bytes;
};

static struct pen pen_open(const char *words)
{
	struct pen pen = {.rig = engine_open(words)};

	pen.aqm = cloud_of(pen.rig)->link.queue.aqm;
	pen.arena = &pen.rig->engine->holder.arena;
	return pen;
}

static void pen_add(struct pen *pen, struct log *band, const struct held *like, const uint8_t *data)
{
	struct held *held = log_append(band, pen->arena, like->stored_bytes);

	assert_non_null(held);
	memcpy(held, like, sizeof(*held));
	memcpy(held->data, data, like->stored_bytes);
	held->n = 1;
	pen->packets++;
	pen->held_bytes += like->wire_bytes;
}

static struct aqm_view pen_view(const struct pen *pen, uint32_t wire_bytes)
{
	return (struct aqm_view){.waiting_bytes = pen->held_bytes,
	                         .waiting_packets = pen->packets,
	                         .held_bytes = pen->held_bytes,
	                         .held_packets = pen->packets,
	                         .rate_bps = 12000000,
	                         .wire_bytes = wire_bytes};
}

static void pen_push(struct pen *pen, uint64_t number, simtime now)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	uint32_t n = traffic_make(frame, number);
	const struct packet_bytes packet = {.data = frame, .bytes = n, .wire_bytes = n};
	const struct held held = {.t_ns = now,
	                          .wire_bytes = n,
	                          .stored_bytes = (uint16_t)n,
	                          .number = (uint32_t)number};
	const struct aqm_view view = pen_view(pen, n);
	struct burst burst = {.n = 1};
	struct aqm_group group = {.now = now, .n = 1, .wait = true, .burst = &burst};
	struct aqm_verdict verdict;
	struct log *band = pen->aqm->kind->bands->choose(pen->aqm, &packet);

	if (pen->aqm->kind->arrive)
		assert_int_equal(pen->aqm->kind->arrive(pen->aqm, &view, &group, &verdict), 1);
	pen->aqm->drawn++;
	pen_add(pen, band, &held, frame);
	pen->aqm->kind->bands->entered(pen->aqm, band, n);
}

/* Takes a packet. Returns its number and its verdict, or 0 if there is none. */
static uint64_t pen_pop(struct pen *pen, simtime now)
{
	struct log *band = pen->aqm->kind->bands->next(pen->aqm, now);
	struct aqm_verdict verdict;
	struct aqm_view view;
	struct held *held;
	uint64_t what;

	if (!band) {
		assert_int_equal(pen->packets, 0);
		return 0;
	}
	held = log_front(band);
	view = pen_view(pen, held->wire_bytes);
	verdict = pen->aqm->kind->depart(pen->aqm, &view, held, now);
	what = (uint64_t)held->number << 8 | verdict.action;
	pen->packets--;
	pen->held_bytes -= held->wire_bytes;
	log_pop(band, pen->arena);
	return what;
}

static void pen_empty(struct pen *pen)
{
	while (pen_pop(pen, SIMTIME_S))
		;
	for (uint32_t i = 0; pen->aqm->kind->bands->at(pen->aqm, i); i++)
		log_clear(pen->aqm->kind->bands->at(pen->aqm, i), pen->arena);
}

/* Copies the packets of each band into the other's band of the same number. */
static void pen_copy(const struct pen *pen, struct pen *other)
{
	struct log *from, *to;

	for (uint32_t i = 0; (from = pen->aqm->kind->bands->at(pen->aqm, i)); i++) {
		struct log_walk walk = log_walk(from);
		const struct held *held;

		to = other->aqm->kind->bands->at(other->aqm, i);
		assert_non_null(to);
		while ((held = log_walk_next(&walk)))
			pen_add(other, to, held, held->data);
	}
	assert_null(other->aqm->kind->bands->at(other->aqm, 16));
}

static const char *const banded[] = {
        "rate 12mbit queue 100pkt; fq-codel flows 16 target 1ms interval 10ms quantum 300B",
        "rate 12mbit queue 100pkt; dualpi2 target 2ms",
};

static void packets_in_bands_leave_as_they_would_have(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(banded); i++) {
		struct pen pen = pen_open(banded[i]), other = pen_open(banded[i]);
		struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};
		simtime now = 0;
		uint64_t number = 1, marked_or_dropped = 0;

		for (; number < 900; number++, now += 500 * SIMTIME_US) {
			pen_push(&pen, number, now);
			if (number % 20 != 0)
				pen_pop(&pen, now);
		}
		assert_true(pen.packets > 20);
		aqm_snapshot(pen.aqm, &snapshot);
		snapshot.end = snapshot.at;
		snapshot = (struct snapshot){.at = bytes, .end = snapshot.end, .restores = true};
		aqm_snapshot(other.aqm, &snapshot);
		assert_false(snapshot.failed);
		assert_ptr_equal(snapshot.at, snapshot.end);
		pen_copy(&pen, &other);
		assert_true(aqm_fits(other.aqm));
		for (; number < 2000; number++, now += 500 * SIMTIME_US) {
			uint64_t what, whats;

			pen_push(&pen, number, now);
			pen_push(&other, number, now);
			what = pen_pop(&pen, now);
			whats = pen_pop(&other, now);
			assert_int_equal(what, whats);
			marked_or_dropped += (what & 255) != AQM_PASS;
		}
		assert_true(marked_or_dropped > 20);
		assert_int_equal(take(pen.rig, bytes), take(other.rig, bytes_of_other));
		assert_memory_equal(bytes, bytes_of_other, take(pen.rig, bytes));
		pen_empty(&pen);
		pen_empty(&other);
		rig_close(pen.rig);
		rig_close(other.rig);
	}
}

/* A packet in a band that is empty according to the snapshot, and that came later than possible. */
static void packets_in_bands_that_nobody_would_send_do_not_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(banded); i++) {
		struct pen pen = pen_open(banded[i]);
		const struct held held = {.t_ns = SIMTIME_S, .wire_bytes = 60, .stored_bytes = 60};
		uint8_t frame[64] = {0};

		pen_push(&pen, 1, SIMTIME_MS);
		assert_true(aqm_fits(pen.aqm));
		pen_pop(&pen, SIMTIME_MS);
		pen_pop(&pen, 2 * SIMTIME_MS);
		pen_add(&pen, pen.aqm->kind->bands->at(pen.aqm, 1), &held, frame);
		assert_false(aqm_fits(pen.aqm));
		log_clear(pen.aqm->kind->bands->at(pen.aqm, 1), pen.arena);
		*pen.aqm->kind->bands->at(pen.aqm, 1) = (struct log){0};
		pen.packets = pen.held_bytes = 0;
		pen_empty(&pen);
		rig_close(pen.rig);
	}
}

/* With CoDel in its class, a deficit may be negative: the packet that the class was picked for is
 * dropped, and the one behind it is longer. */
static void a_class_that_owes_is_remembered(void **state)
{
	const char *words = "rate 3mbit; class v weight 0.5 match 1 of 2; class rest weight 0.5;"
	                    "scheduler drr quantum 300B; class v codel target 100us interval 200us;"
	                    "class rest codel target 100us interval 200us";
	uint32_t owing = 0;

	(void)state;
	for (uint64_t n = 20; n < 100; n++) {
		struct rig *rig = engine_open(words), *other = engine_open(words);
		struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};
		struct classes *classes = cloud_of(rig)->link.classes;

		traffic_come(rig, 1, n, SIMTIME_MS);
		rig_advance(rig, rig->now);
		rig_advance(other, rig->now);
		other->sent = rig->sent;
		other->cleared = rig->n_departures;
		engine_snapshot(rig->engine, rig->now, &snapshot);
		assert_false(snapshot.failed);
		snapshot = (struct snapshot){.at = bytes, .end = snapshot.at, .restores = true};
		engine_snapshot(other->engine, rig->now, &snapshot);
		assert_false(snapshot.failed);
		assert_ptr_equal(snapshot.at, snapshot.end);
		for (uint32_t i = 0; i < classes->n; i++) {
			owing += classes->class[i].deficit < 0;
			assert_int_equal(cloud_of(other)->link.classes->class[i].deficit,
			                 classes->class[i].deficit);
		}
		rig_close(rig);
		rig_close(other);
	}
	assert_true(owing > 3);
}

GROUP(snapshot)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(who_reads_one_goes_on_as_who_wrote_it),
	        cmocka_unit_test(who_knows_only_what_was_drawn_goes_on_otherwise),
	        cmocka_unit_test(one_that_is_cut_is_refused),
	        cmocka_unit_test(one_that_is_damaged_does_no_harm),
	        cmocka_unit_test(a_class_that_owes_is_remembered),
	        cmocka_unit_test(no_statement_takes_over_what_it_does_not_write_down),
	        cmocka_unit_test(packets_in_bands_leave_as_they_would_have),
	        cmocka_unit_test(packets_in_bands_that_nobody_would_send_do_not_fit),
	};

	/* Hundreds of engines are made. Their memory stays, so that the kernel need not clear each
	 * one's pages again. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
