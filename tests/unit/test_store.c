/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "holding/store.h"
#include "runner/group.h"

#define CHUNKS 8u
#define STORED 64u
#define PER_CHUNK                                                                                  \
	((CHUNK_BYTES - sizeof(struct parcel) - COPY_BLOCK_BYTES) / (sizeof(struct held) + STORED))

struct bench {
	struct arena arena;
	struct store store;
	void *memory;
};

static void bench_open(struct bench *bench, uint32_t chunks)
{
	memset(bench, 0, sizeof(*bench));
	bench->memory = aligned_alloc(64, (size_t)CHUNKS * CHUNK_BYTES);
	assert_non_null(bench->memory);
	arena_init(&bench->arena, bench->memory, (size_t)chunks * CHUNK_BYTES);
	assert_int_equal(store_open(&bench->store, &bench->arena), 0);
}

static void bench_close(struct bench *bench)
{
	store_close(&bench->store);
	free(bench->memory);
}

static void a_chunk_goes_back_when_the_last_of_its_records_has_left(void **state)
{
	struct held *held[PER_CHUNK + 1];
	struct bench bench;

	(void)state;
	bench_open(&bench, CHUNKS);
	for (uint32_t i = 0; i < PER_CHUNK + 1; i++)
		held[i] = store_append(&bench.store, 1000, STORED);
	assert_int_equal(bench.arena.used_chunks, 2);
	/* the first record stays longest */
	for (uint32_t i = PER_CHUNK - 1; i > 0; i--)
		store_leave(&bench.store, held[i]);
	assert_int_equal(bench.arena.used_chunks, 2);
	store_leave(&bench.store, held[0]);
	assert_int_equal(bench.arena.used_chunks, 1);
	/* the chunk that is being filled is freed, too */
	store_leave(&bench.store, held[PER_CHUNK]);
	assert_int_equal(bench.arena.used_chunks, 0);
	assert_non_null(store_append(&bench.store, 1000, STORED));
	assert_int_equal(bench.arena.used_chunks, 1);
	bench_close(&bench);
}

static void long_stays_do_not_keep_the_memory_of_short_ones(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench, CHUNKS);
	store_append(&bench.store, 10 * SIMTIME_S, STORED);
	for (uint32_t i = 0; i < 10 * PER_CHUNK; i++) {
		struct held *held = store_append(&bench.store, SIMTIME_MS, STORED);

		assert_non_null(held);
		store_leave(&bench.store, held);
		assert_int_equal(bench.arena.used_chunks, 1);
	}
	bench_close(&bench);
}

static void stays_of_any_length_have_a_class(void **state)
{
	(void)state;
	assert_int_equal(store_class_of(0), 0);
	assert_int_equal(store_class_of(65535), 0);
	assert_int_equal(store_class_of(65536), 1);
	assert_int_equal(store_class_of(UINT64_C(1) << 51), 36);
	assert_int_equal(store_class_of(UINT64_MAX), STORE_CLASSES - 1);
}

static void no_memory_is_said_and_a_record_can_be_taken_back(void **state)
{
	struct held *first, *second;
	struct bench bench;

	(void)state;
	bench_open(&bench, 1);
	first = store_append(&bench.store, 5, STORED);
	assert_non_null(first);
	assert_null(store_append(&bench.store, SIMTIME_S, STORED));
	second = store_append(&bench.store, 5, STORED);
	store_retract(&bench.store, 5, second, STORED);
	assert_ptr_equal(store_append(&bench.store, 5, STORED), second);
	store_retract(&bench.store, 5, second, STORED);
	store_retract(&bench.store, 5, first, STORED);
	assert_int_equal(bench.arena.used_chunks, 0);
	assert_non_null(store_append(&bench.store, SIMTIME_S, STORED));
	bench_close(&bench);
}

static void a_chunk_of_cells_is_all_cells_and_the_numbers_of_their_packets(void **state)
{
	struct held *cells[CELLS_A_CHUNK + 1], *later[2];
	uint32_t numbers[CELLS_A_CHUNK + 1];
	union {
		struct held held;
		uint8_t bytes[sizeof(struct held) + CELL_BYTES];
	} seen;
	struct bench bench;

	(void)state;
	bench_open(&bench, CHUNKS);
	for (uint32_t i = 0; i <= CELLS_A_CHUNK; i++)
		numbers[i] = 7 + 3 * i;
	assert_false(store_takes_cells(&bench.store, 1, 40));
	assert_false(store_takes_cells(&bench.store, 1, 65));
	assert_true(store_takes_cells(&bench.store, 1, 60));
	assert_int_equal(store_append_cells(&bench.store, 1, 5, 60, numbers, CELLS_A_CHUNK, cells),
	                 CELLS_A_CHUNK);
	assert_int_equal(bench.arena.used_chunks, 1);
	for (uint32_t i = 0; i < CELLS_A_CHUNK; i++) {
		assert_int_equal((uintptr_t)cells[i] % CELL_BYTES, 0);
		memset(cells[i], (int)i, CELL_BYTES);
	}
	for (uint32_t i = 0; i < CELLS_A_CHUNK; i++) {
		store_cell_read(&bench.store, cells[i], &seen.held);
		assert_int_equal(seen.held.number, numbers[i]);
		assert_int_equal(seen.held.cloud, 5);
		assert_int_equal(seen.held.wire_bytes, 60);
		assert_int_equal(seen.held.stored_bytes, 60);
		assert_int_equal(seen.held.flags, 0);
		assert_memory_equal(seen.held.data, cells[i], CELL_BYTES);
	}
	/* A full chunk takes no more cells; a chunk with room takes cells of its length only. */
	assert_int_equal(store_append_cells(&bench.store, 1, 5, 64, numbers, 1, later), 1);
	assert_false(store_takes_cells(&bench.store, 1, 60));
	assert_true(store_takes_cells(&bench.store, 2, 60));
	assert_true(store_takes_cells(&bench.store, 1, 64));
	assert_int_equal(store_append_cells(&bench.store, 1, 5, 64, numbers, 1, later + 1), 1);
	assert_ptr_equal((uint8_t *)later[0] + CELL_BYTES, later[1]);
	assert_int_equal(bench.arena.used_chunks, 2);
	for (uint32_t i = 0; i < CELLS_A_CHUNK; i++)
		store_leave(&bench.store, cells[i]);
	assert_int_equal(bench.arena.used_chunks, 1);
	store_leave(&bench.store, later[0]);
	store_leave(&bench.store, later[1]);
	assert_int_equal(bench.arena.used_chunks, 0);
	assert_true(store_takes_cells(&bench.store, 1, 60));
	/* A chunk that had cells takes records now. */
	assert_int_equal(store_cell(&bench.store, store_append(&bench.store, 5, STORED)), 0);
	bench_close(&bench);
}

GROUP(store)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_chunk_goes_back_when_the_last_of_its_records_has_left),
	        cmocka_unit_test(long_stays_do_not_keep_the_memory_of_short_ones),
	        cmocka_unit_test(stays_of_any_length_have_a_class),
	        cmocka_unit_test(no_memory_is_said_and_a_record_can_be_taken_back),
	        cmocka_unit_test(a_chunk_of_cells_is_all_cells_and_the_numbers_of_their_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
