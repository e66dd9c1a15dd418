/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of a flight, compared with a list of everything that was put into it. After any input,
 * what the ring shows begins with a whole snapshot and continues to the end without a gap; and all
 * changes before that are listed. The list of real losses has what was put into it since its begin.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/flight.h"
#include "runner/group.h"
#include "starve.h"

#define MIB        (UINT64_C(1) << 20)
#define PART_BYTES (UINT32_C(128) << 10)
#define LARGEST    (sizeof(struct tape_entry) + PART_BYTES)
#define LIST_MAX   20000u
/* The most that a ring may leave unused, with chunks of 1 MiB: the end of the chunk ahead of a
 * snapshot, the end of the latest chunk, and an end too small for an entry. */
#define UNUSED (3 * MIB)

/* ---- a ring, and the list ---- */

struct pair {
	struct flight_ring *ring;
	uint64_t bytes_max;
	simtime keep_ns;
	uint32_t n, life; /* life: the first entry with no gap between it and the latest */
	struct tape_entry list[LIST_MAX];
	bool begins[LIST_MAX]; /* part 0 of a complete snapshot */
	uint32_t snapshot;     /* the place of the latest part 0 */
	uint64_t changes;
	simtime now;
	bool starved; /* an allocation failed: a snapshot may be missing in the middle */
};

static uint64_t random_state;

static uint32_t dice(uint32_t sides)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(random_state >> 33) % sides;
}

static struct pair *pair_open(uint64_t bytes_max, simtime keep_ns, uint64_t seed)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	pair->bytes_max = bytes_max;
	pair->keep_ns = keep_ns;
	pair->ring = flight_ring_make(bytes_max, keep_ns);
	assert_non_null(pair->ring);
	random_state = seed;
	return pair;
}

static void pair_close(struct pair *pair)
{
	flight_ring_free(pair->ring);
	free(pair);
}

/* Returns the entry with its contents. Its place in the list is in `word`, and in all bytes behind
 * the entry. */
static const struct tape_entry *fill(const struct tape_entry *entry)
{
	static _Alignas(8) uint8_t room[LARGEST];

	memcpy(room, entry, sizeof(*entry));
	memset(room + sizeof(*entry), (int)(entry->word * 7 & 0xff), entry->bytes - sizeof(*entry));
	return (const struct tape_entry *)(const void *)room;
}

/* Asserts that the entry is what fill() makes of the listed one: behind it, one byte is
 * repeated. */
static void assert_filled(const struct tape_entry *entry, const struct tape_entry *listed)
{
	const uint8_t *behind = (const uint8_t *)(entry + 1);
	const size_t n = listed->bytes - sizeof(*listed);

	assert_memory_equal(entry, listed, sizeof(*listed));
	if (n > 0) {
		assert_int_equal(behind[0], (uint8_t)(listed->word * 7));
		assert_int_equal(memcmp(behind, behind + 1, n - 1), 0);
	}
}

static void put(struct pair *pair, struct tape_entry entry, uint32_t behind)
{
	assert_true(pair->n < LIST_MAX && sizeof(entry) + behind <= LARGEST);
	entry.bytes = (uint32_t)sizeof(entry) + behind;
	entry.word = pair->n;
	entry.t_ns = pair->now;
	pair->list[pair->n++] = entry;
	flight_ring_put(pair->ring, fill(&entry));
}

static void put_packets(struct pair *pair, uint32_t behind)
{
	put(pair, (struct tape_entry){.kind = TAPE_PACKETS, .n = 1 + dice(32)}, behind);
}

static void put_change(struct pair *pair)
{
	put(pair, (struct tape_entry){.kind = TAPE_CHANGE, .number = ++pair->changes}, 0);
}

static void put_gap(struct pair *pair)
{
	put(pair, (struct tape_entry){.kind = TAPE_GAP, .n = 3}, 0);
	pair->life = pair->n;
}

/* Puts the first `parts` of a snapshot of `whole` parts; if the numbers are equal, it is
 * complete. */
static void put_snapshot(struct pair *pair, uint32_t parts, uint32_t whole)
{
	for (uint32_t part = 0; part < parts; part++) {
		const bool last = part + 1 == whole;

		if (part == 0)
			pair->snapshot = pair->n;
		put(pair,
		    (struct tape_entry){.kind = TAPE_SNAPSHOT,
		                        .flags = last ? TAPE_LAST : 0,
		                        .n = part,
		                        .number = whole * PART_BYTES},
		    last ? 8 * (1 + dice(1000)) : PART_BYTES);
		if (last)
			pair->begins[pair->snapshot] = true;
	}
}

/* ---- the contents of a view ---- */

static uint64_t bytes_from(const struct pair *pair, uint32_t from)
{
	uint64_t bytes = 0;

	for (uint32_t i = from; i < pair->n; i++)
		bytes += pair->list[i].bytes;
	return bytes;
}

/* Returns the latest complete snapshot before `n` with no gap between it and the latest entry. */
static uint32_t begin_before(const struct pair *pair, uint32_t n)
{
	for (uint32_t i = n; i > pair->life; i--) {
		if (pair->begins[i - 1])
			return i - 1;
	}
	return UINT32_MAX;
}

static uint32_t begin_behind(const struct pair *pair, uint32_t from)
{
	for (uint32_t i = from; i < pair->n; i++) {
		if (pair->begins[i])
			return i;
	}
	return UINT32_MAX;
}

/* Asserts that the view shows all changes ahead of its first entry, then all entries up to `end`.
 * Returns the place of the first. */
static uint32_t assert_shows(const struct pair *pair, const struct flight_view *view, uint32_t end)
{
	const struct tape_entry *entry;
	struct flight_cursor cursor;
	uint32_t ahead = 0, first, at;

	flight_cursor_begin(&cursor, view);
	for (uint64_t i = 0; i < view->n_changes; i++, ahead++) {
		entry = flight_cursor_next(&cursor);
		assert_non_null(entry);
		while (pair->list[ahead].kind != TAPE_CHANGE)
			assert_true(++ahead < end);
		assert_int_equal(entry->kind, TAPE_CHANGE);
		assert_int_equal(entry->number, pair->list[ahead].number);
		assert_int_equal(entry->t_ns, pair->list[ahead].t_ns);
	}
	entry = flight_cursor_next(&cursor);
	assert_non_null(entry);
	first = at = entry->word;
	assert_true(first < end && pair->begins[first]);
	assert_int_equal(view->from_ns, entry->t_ns);
	/* No change is missing. */
	for (; ahead < first; ahead++)
		assert_int_not_equal(pair->list[ahead].kind, TAPE_CHANGE);
	for (; entry; entry = flight_cursor_next(&cursor), at++) {
		while (pair->starved && at < entry->word && pair->list[at].kind == TAPE_SNAPSHOT)
			at++;
		assert_true(at < end);
		assert_filled(entry, &pair->list[at]);
	}
	while (pair->starved && at < end && pair->list[at].kind == TAPE_SNAPSHOT)
		at++;
	assert_int_equal(at, end);
	assert_int_equal(view->to_ns, pair->list[end - 1].t_ns);
	return first;
}

/* Asserts that the view reaches back no further than necessary: if it began at the next snapshot,
 * it would have been too short when the latest snapshot came. */
static void assert_no_longer(const struct pair *pair, uint32_t first)
{
	const uint32_t next = begin_behind(pair, first + 1);
	const uint32_t latest = begin_before(pair, pair->n);

	if (next != UINT32_MAX)
		assert_true(pair->list[next].t_ns + pair->keep_ns > pair->list[latest].t_ns);
}

static void assert_holds(struct pair *pair)
{
	const uint32_t latest = begin_before(pair, pair->n);
	struct flight_view view;
	uint32_t first;
	int rc = flight_ring_view(pair->ring, &view);

	if (rc < 0) {
		assert_true(rc == -ENODATA || pair->starved);
		assert_true(pair->starved || latest == UINT32_MAX ||
		            bytes_from(pair, latest) + UNUSED > pair->bytes_max);
		return;
	}
	first = assert_shows(pair, &view, pair->n);
	assert_true(first >= pair->life);
	assert_true(view.bytes <= pair->bytes_max + LARGEST);
	if (pair->keep_ns) {
		assert_no_longer(pair, first);
		/* If it is shorter than keep_ns although memory sufficed, it begins with the first
		 * snapshot there is. */
		if (view.from_ns + pair->keep_ns > pair->now && !pair->starved &&
		    bytes_from(pair, pair->life) + UNUSED < pair->bytes_max)
			assert_int_equal(first, begin_behind(pair, pair->life));
	}
	flight_view_release(pair->ring, &view);
}

/* Puts anything. `gaps`: one gap in this number; 0: none. */
static void put_any(struct pair *pair, uint32_t gaps)
{
	const uint32_t which = dice(100);

	pair->now += dice(3) * SIMTIME_MS;
	if (which < 3)
		put_snapshot(pair, 1 + which, 1 + which);
	else if (which < 5) /* a snapshot that does not fit into one chunk */
		put_snapshot(pair, 12, 12);
	else if (which < 6)
		put_snapshot(pair, 2, 3);
	else if (which < 26)
		put_change(pair);
	else if (which < 30)
		put(pair, (struct tape_entry){.kind = TAPE_SUM, .number = which}, 0);
	else if (gaps && dice(gaps) == 0)
		put_gap(pair);
	else
		put_packets(pair, 8 * dice(PART_BYTES / 8));
}

/* ---- claims ---- */

static void whatever_comes_it_begins_with_a_snapshot_and_has_no_hole(void **state)
{
	static const uint64_t sizes[] = {4 * MIB, 8 * MIB, 9 * MIB + 13, 40 * MIB};

	(void)state;
	for (uint32_t round = 0; round < 12; round++) {
		struct pair *pair = pair_open(sizes[round % 4], 0, round);

		for (uint32_t i = 0; i < 1500; i++) {
			put_any(pair, 200);
			if (i % 32 == 0)
				assert_holds(pair);
		}
		pair_close(pair);
	}
}

static void it_reaches_back_as_far_as_it_is_told_and_no_further_than_a_snapshot_allows(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 6; round++) {
		struct pair *pair = pair_open(200 * MIB, (100 + 200 * round) * SIMTIME_MS, round);

		for (uint32_t i = 0; i < 2000; i++) {
			put_any(pair, round % 2 ? 400 : 0);
			if (i % 64 == 0)
				assert_holds(pair);
		}
		pair_close(pair);
	}
}

static void without_a_whole_snapshot_it_has_nothing(void **state)
{
	struct pair *pair = pair_open(8 * MIB, 0, 1);
	struct flight_view view;

	(void)state;
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_packets(pair, 64);
	put_change(pair);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_snapshot(pair, 2, 3);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_packets(pair, 64);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_snapshot(pair, 3, 3);
	assert_int_equal(flight_ring_view(pair->ring, &view), 0);
	assert_int_equal(view.n_changes, 1);
	assert_shows(pair, &view, pair->n);
	flight_view_release(pair->ring, &view);
	/* If the beginning of a snapshot was lost, its rest is no beginning. */
	put_gap(pair);
	put(pair,
	    (struct tape_entry){.kind = TAPE_SNAPSHOT, .flags = TAPE_LAST, .n = 2, .number = 8}, 8);
	put_packets(pair, 64);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	pair_close(pair);
}

static void behind_a_gap_it_begins_anew(void **state)
{
	struct pair *pair = pair_open(8 * MIB, 0, 2);
	struct flight_view view;

	(void)state;
	put_snapshot(pair, 2, 2);
	put_change(pair);
	put_packets(pair, 640);
	put_gap(pair);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_change(pair);
	put_snapshot(pair, 1, 1);
	put_change(pair);
	assert_int_equal(flight_ring_view(pair->ring, &view), 0);
	assert_int_equal(view.n_changes, 2);
	assert_true(assert_shows(pair, &view, pair->n) >= pair->life);
	flight_view_release(pair->ring, &view);
	pair_close(pair);
}

/* The scenario that the snapshot refers to is unknown then. */
static void behind_a_gap_in_which_a_change_may_be_missing_it_is_none(void **state)
{
	struct pair *pair = pair_open(8 * MIB, 0, 2);
	struct flight_view view;

	(void)state;
	put_snapshot(pair, 1, 1);
	put(pair, (struct tape_entry){.kind = TAPE_GAP, .flags = TAPE_BLIND, .n = 1}, 0);
	put_snapshot(pair, 1, 1);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ESTALE);
	pair_close(pair);
}

/* Chunks are filled to the last byte, and the change needs one more. */
static void a_change_that_finds_no_room_is_listed(void **state)
{
	const uint32_t eighth = PART_BYTES - (uint32_t)sizeof(struct tape_entry);
	struct pair *pair = pair_open(2 * MIB, 0, 5);
	struct flight_view view;

	(void)state;
	pair->begins[0] = true;
	put(pair, (struct tape_entry){.kind = TAPE_SNAPSHOT, .flags = TAPE_LAST, .number = eighth},
	    eighth);
	for (uint32_t i = 1; i < 16; i++)
		put_packets(pair, eighth);
	assert_int_equal(flight_ring_view(pair->ring, &view), 0);
	assert_shows(pair, &view, pair->n);
	flight_view_release(pair->ring, &view);
	put_change(pair);
	assert_int_equal(flight_ring_view(pair->ring, &view), -ENODATA);
	put_change(pair);
	put_snapshot(pair, 1, 1);
	assert_int_equal(flight_ring_view(pair->ring, &view), 0);
	assert_int_equal(view.n_changes, 2);
	assert_shows(pair, &view, pair->n);
	flight_view_release(pair->ring, &view);
	pair_close(pair);
}

/* For want of memory, the ring becomes empty. The changes that it held come before this one. */
static void a_change_that_finds_no_memory_is_listed_behind_those_that_came_before(void **state)
{
	struct pair *pair = pair_open(8 * MIB, 0, 6);
	struct flight_view view;

	(void)state;
	put_change(pair); /* the list of changes has room for more */
	put_snapshot(pair, 1, 1);
	put_change(pair);
	for (uint32_t i = 0; i < 7; i++)
		put_packets(pair, PART_BYTES);
	while (MIB - bytes_from(pair, 1) >= sizeof(struct tape_entry))
		put(pair, (struct tape_entry){.kind = TAPE_SUM}, 0);
	starve_after(0);
	put_change(pair);
	assert_int_equal(starve_end(), 1);
	put_snapshot(pair, 1, 1);
	assert_int_equal(flight_ring_view(pair->ring, &view), 0);
	assert_int_equal(view.n_changes, 3);
	assert_shows(pair, &view, pair->n);
	flight_view_release(pair->ring, &view);
	pair_close(pair);
}

/* Several views at once, each of another moment. */
static void a_view_shows_its_moment_while_the_ring_goes_on(void **state)
{
	struct held {
		struct flight_view view;
		uint32_t end, life;
	} held[3] = {0};
	struct pair *pair = pair_open(6 * MIB, 0, 3);

	(void)state;
	for (uint32_t i = 0; i < 6000; i++) {
		struct held *one = &held[dice(3)];

		put_any(pair, 100);
		if (dice(40) > 0)
			continue;
		if (one->end) {
			assert_shows(pair, &one->view, one->end);
			flight_view_release(pair->ring, &one->view);
			one->end = 0;
		} else if (flight_ring_view(pair->ring, &one->view) == 0) {
			one->end = pair->n;
		}
	}
	for (uint32_t i = 0; i < 3; i++)
		flight_view_release(pair->ring, &held[i].view);
	pair_close(pair);
}

static void what_comes_behind_half_a_snapshot_takes_no_more_memory_than_it_may(void **state)
{
	struct pair *pair = pair_open(6 * MIB, 0, 4);

	(void)state;
	put_snapshot(pair, 1, 1);
	put_packets(pair, 64);
	put_snapshot(pair, 2, 3);
	/* Each MiB takes one allocation. */
	starve_after(8);
	for (uint32_t i = 0; i < 40 * 8; i++)
		put_packets(pair, PART_BYTES);
	assert_int_equal(starve_end(), 0);
	put_snapshot(pair, 1, 1);
	assert_holds(pair);
	pair_close(pair);
}

static void without_memory_it_may_have_less_and_never_what_has_a_hole(void **state)
{
	uint64_t refused = 0;

	(void)state;
	for (uint32_t round = 0; round < 8; round++) {
		struct pair *pair = pair_open(8 * MIB, 0, round);

		for (uint32_t i = 0; i < 1500; i++) {
			const bool starve = dice(20) == 0;

			if (starve)
				starve_after(0);
			put_any(pair, 0);
			if (starve && starve_end() > 0) {
				pair->starved = true;
				refused++;
			}
			if (i % 32 == 0)
				assert_holds(pair);
		}
		pair_close(pair);
	}
	assert_true(refused > 20);
}

/* ---- real losses ---- */

#define LOSSES 20000u

static struct tape_entry loss(uint32_t i, simtime due_ns)
{
	return (struct tape_entry){.bytes = sizeof(struct tape_entry),
	                           .kind = TAPE_UNSENT,
	                           .port = (uint16_t)(i % 3),
	                           .n = 60 + i % 1400,
	                           .word = i * UINT32_C(2654435761),
	                           .number = due_ns};
}

static void assert_is_loss(const struct flight_loss *copied, uint32_t i)
{
	const struct tape_entry again = flight_loss_entry(copied), was = loss(i, i * SIMTIME_MS);

	assert_memory_equal(&again, &was, sizeof(was));
	assert_int_equal(copied->worker, i % 5);
}

/* A packet is lost each millisecond. The flight begins two seconds ago. */
static void a_copy_has_exactly_the_losses_that_were_due_after_its_begin(void **state)
{
	const uint64_t most = 8192 * sizeof(struct flight_loss);
	struct flight_losses losses, copy;

	(void)state;
	flight_losses_make(&losses, most);
	for (uint32_t i = 1; i <= LOSSES; i++) {
		const uint32_t begin = i > 2000 ? i - 2000 : 0;
		const struct tape_entry entry = loss(i, i * SIMTIME_MS);

		assert_true(flight_losses_put(&losses, i % 5, &entry, begin * SIMTIME_MS));
		if (i % 997 != 0)
			continue;
		assert_int_equal(flight_losses_copy(&losses, begin * SIMTIME_MS, &copy), 0);
		assert_int_equal(copy.n, i - begin);
		for (uint32_t k = 0; k < copy.n; k++)
			assert_is_loss(&copy.list[k], begin + 1 + k);
		flight_losses_free(&copy);
	}
	assert_true(losses.room * sizeof(struct flight_loss) <= most);
	flight_losses_free(&losses);
}

/* The tape of an engine may be behind: a snapshot of this instant is still to come. */
static void losses_of_the_last_second_stay_although_no_ring_has_begun(void **state)
{
	struct flight_losses losses, copy;

	(void)state;
	flight_losses_make(&losses, 4096 * sizeof(struct flight_loss));
	for (uint32_t i = 1; i <= LOSSES; i++) {
		const struct tape_entry entry = loss(i, i * SIMTIME_MS);

		assert_true(flight_losses_put(&losses, 0, &entry, SIMTIME_NEVER));
	}
	assert_int_equal(flight_losses_copy(&losses, (LOSSES - 1000) * SIMTIME_MS, &copy), 0);
	assert_int_equal(copy.n, 1000);
	flight_losses_free(&copy);
	flight_losses_free(&losses);
}

static void a_loss_that_finds_no_room_is_refused(void **state)
{
	struct flight_losses losses;
	const struct tape_entry entry = loss(0, SIMTIME_S);

	(void)state;
	flight_losses_make(&losses, 100 * sizeof(struct flight_loss));
	for (uint32_t i = 0; i < 100; i++)
		assert_true(flight_losses_put(&losses, 0, &entry, 0));
	assert_false(flight_losses_put(&losses, 0, &entry, 0));
	flight_losses_clear(&losses);
	assert_true(flight_losses_put(&losses, 0, &entry, 0));
	flight_losses_free(&losses);
}

static void put_whole_snapshot(struct flight *flight, uint32_t worker)
{
	struct tape_entry snapshot = {.bytes = sizeof(snapshot),
	                              .kind = TAPE_SNAPSHOT,
	                              .flags = TAPE_LAST,
	                              .t_ns = SIMTIME_S};

	flight_put(flight, worker, &snapshot);
}

static void behind_a_gap_of_any_worker_the_whole_flight_begins_anew(void **state)
{
	const struct tape_entry gap = {.bytes = sizeof(gap), .kind = TAPE_GAP};
	const struct tape_entry lost = loss(1, 2 * SIMTIME_S);
	struct flight *flight = flight_make(2, 8 * MIB, SIMTIME_S);
	struct recording_dump dump;

	(void)state;
	assert_non_null(flight);
	put_whole_snapshot(flight, 0);
	flight_put(flight, 1, &lost);
	assert_int_equal(flight_views(flight, &dump), 0);
	assert_int_equal(dump.workers, 1);
	assert_int_equal(dump.without, 0);
	flight_views_release(flight);
	flight_put(flight, 1, &gap);
	assert_int_equal(flight_views(flight, &dump), -ENODATA);
	put_whole_snapshot(flight, 0);
	assert_int_equal(flight_views(flight, &dump), 0);
	flight_views_release(flight);
	flight_free(flight);
}

GROUP(flight)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(whatever_comes_it_begins_with_a_snapshot_and_has_no_hole),
	        cmocka_unit_test(
	                it_reaches_back_as_far_as_it_is_told_and_no_further_than_a_snapshot_allows),
	        cmocka_unit_test(without_a_whole_snapshot_it_has_nothing),
	        cmocka_unit_test(behind_a_gap_it_begins_anew),
	        cmocka_unit_test(behind_a_gap_in_which_a_change_may_be_missing_it_is_none),
	        cmocka_unit_test(a_change_that_finds_no_room_is_listed),
	        cmocka_unit_test(
	                a_change_that_finds_no_memory_is_listed_behind_those_that_came_before),
	        cmocka_unit_test(a_view_shows_its_moment_while_the_ring_goes_on),
	        cmocka_unit_test(
	                what_comes_behind_half_a_snapshot_takes_no_more_memory_than_it_may),
	        cmocka_unit_test(without_memory_it_may_have_less_and_never_what_has_a_hole),
	        cmocka_unit_test(a_copy_has_exactly_the_losses_that_were_due_after_its_begin),
	        cmocka_unit_test(losses_of_the_last_second_stay_although_no_ring_has_begun),
	        cmocka_unit_test(a_loss_that_finds_no_room_is_refused),
	        cmocka_unit_test(behind_a_gap_of_any_worker_the_whole_flight_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
