/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena and the log, in memory of exactly the promised size: AddressSanitizer guards its
 * ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "holding/hold.h"
#include "holding/log.h"
#include "random/draw.h"
#include "runner/group.h"

#define BESIDE_PAGES  16384 /* more than other tests here have given back */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct arena arena;
static struct log packets;
static void *memory;

static void open_with(uint32_t chunks)
{
	memory = aligned_alloc(64, (size_t)chunks * CHUNK_BYTES);
	assert_non_null(memory);
	memset(memory, 0xee, (size_t)chunks * CHUNK_BYTES);
	arena_init(&arena, memory, (size_t)chunks * CHUNK_BYTES);
	memset(&packets, 0, sizeof(packets));
}

/* Asserts that every chunk can be allocated again, and no more. */
static void close_with(uint32_t chunks)
{
	uint32_t n = 0;

	log_clear(&packets, &arena);
	assert_int_equal(arena.used_chunks, 0);
	while (arena_get(&arena))
		n++;
	assert_int_equal(n, chunks);
	free(memory);
}

static uint8_t byte_of(uint64_t number, uint32_t i)
{
	return (uint8_t)(number * 251 + i);
}

/* Writes in whole blocks, like hold_fill: the most that is written beyond a record. */
static bool append(uint64_t number, uint32_t stored)
{
	uint8_t frame[CHUNK_BYTES + COPY_BLOCK_BYTES];
	struct held *held = log_append(&packets, &arena, stored);

	if (!held)
		return false;
	for (uint32_t i = 0; i < RTE_ALIGN_CEIL(stored, COPY_BLOCK_BYTES); i++)
		frame[i] = byte_of(number, i);
	held->t_ns = number;
	held->wire_bytes = (uint32_t)number;
	held->stored_bytes = (uint16_t)stored;
	held->flags = 0;
	hold_copy(held->data, frame, stored);
	return true;
}

static void front_is(uint64_t number, uint32_t stored)
{
	const struct held *held = log_front(&packets);

	assert_true(packets.records > 0);
	assert_int_equal(held->t_ns, number);
	assert_int_equal(held->wire_bytes, (uint32_t)number);
	assert_int_equal(held->stored_bytes, stored);
	for (uint32_t i = 0; i < stored; i++) {
		if (held->data[i] != byte_of(number, i))
			fail_msg("byte %u of record %" PRIu64, i, number);
	}
}

static void records_of_every_size_come_back_as_they_went_in(void **state)
{
	(void)state;
	open_with(4096);
	for (uint32_t stored = 0; stored <= LOG_STORED_MAX; stored++)
		assert_true(append(stored, stored));
	assert_int_equal(packets.records, LOG_STORED_MAX + 1);
	for (uint32_t stored = 0; stored <= LOG_STORED_MAX; stored++) {
		front_is(stored, stored);
		log_pop(&packets, &arena);
	}
	assert_int_equal(packets.records, 0);
	assert_int_equal(arena.used_chunks, 1); /* the warm one */
	close_with(4096);
}

static void the_largest_record_fits_alone_into_the_last_chunk_of_the_memory(void **state)
{
	(void)state;
	open_with(1);
	assert_true(append(1, LOG_STORED_MAX));
	assert_false(append(2, 0));
	front_is(1, LOG_STORED_MAX);
	log_pop(&packets, &arena);
	assert_true(append(3, LOG_STORED_MAX));
	front_is(3, LOG_STORED_MAX);
	close_with(1);
}

static void an_empty_log_takes_no_memory_until_its_first_record(void **state)
{
	(void)state;
	open_with(2);
	assert_int_equal(arena.used_chunks, 0);
	assert_true(append(1, 60));
	assert_int_equal(arena.used_chunks, 1);
	close_with(2);
}

static void a_full_arena_says_so_and_what_was_there_stays(void **state)
{
	uint32_t n = 0, m = 0;

	(void)state;
	open_with(3);
	while (append(n, 100))
		n++;
	/* 3 chunks of (4096 - 16 - 64) / (24 + 104) records */
	assert_int_equal(n, 3 * 31);
	assert_false(append(n, 100));
	assert_int_equal(packets.records, n);
	for (m = 0; m < 31; m++) {
		front_is(m, 100);
		log_pop(&packets, &arena);
	}
	assert_int_equal(arena.used_chunks, 2); /* the first chunk is used again */
	for (uint32_t i = 0; i < 31; i++)
		assert_true(append(n + i, 100));
	assert_false(append(n, 100));
	for (; packets.records; m++) {
		front_is(m, 100);
		log_pop(&packets, &arena);
	}
	assert_int_equal(m, n + 31);
	close_with(3);
}

/* A log that holds little uses little, however long it runs: its chunks are reused. */
static void a_million_records_pass_through_two_chunks(void **state)
{
	uint64_t in = 0, out = 0;

	(void)state;
	open_with(2);
	while (out < 1000000) {
		while (in < out + 40)
			assert_true(append(in++, 60));
		for (int i = 0; i < 17; i++) {
			assert_int_equal(log_front(&packets)->t_ns, out);
			out++;
			log_pop(&packets, &arena);
		}
		assert_in_range(arena.used_chunks, 1, 2);
	}
	close_with(2);
}

/* Has the effect of this number of pops. */
static void pop_past(uint64_t pops)
{
	struct log_walk walk = log_walk(&packets);
	const struct held *behind = log_walk_next(&walk);
	uint64_t n;

	for (n = 0; n < pops && behind; n++)
		behind = log_walk_next(&walk);
	log_pop_past(&packets, &arena, n, &walk, behind);
}

static void random_fills_and_drains_keep_order_and_lose_no_chunk(void **state)
{
	struct draw_key key = draw_key_make(9, "log", "random");
	uint64_t in = 0, out = 0, draws = 0;

	(void)state;
	open_with(64);
	for (int round = 0; round < 4000; round++) {
		uint64_t appends = draw_u64(key, draws++, 0) % 60;
		uint64_t pops = draw_u64(key, draws++, 0) % 60;

		for (uint64_t i = 0; i < appends; i++) {
			if (!append(in, (uint32_t)(draw_u64(key, in, 1) % (LOG_STORED_MAX + 1))))
				break;
			in++;
		}
		for (uint64_t i = 0; i < pops && packets.records; i++) {
			front_is(out, (uint32_t)(draw_u64(key, out, 1) % (LOG_STORED_MAX + 1)));
			out++;
			log_pop(&packets, &arena);
		}
		pops = draw_u64(key, draws++, 0) % 60;
		if (packets.records)
			pop_past(pops);
		out += pops < in - out ? pops : in - out;
		assert_int_equal(packets.records, in - out);
		assert_int_equal(packets.records ? log_front(&packets)->t_ns : out, out);
	}
	assert_true(in > 10000);
	close_with(64);
}

static void a_popped_record_can_be_read_until_the_next_append(void **state)
{
	const struct held *held;

	(void)state;
	open_with(3);
	for (uint32_t i = 0; i < 62; i++)
		assert_true(append(i, 100));
	for (uint32_t i = 0; i < 62; i++) {
		front_is(i, 100);
		held = log_front(&packets);
		log_pop(&packets, &arena);
		assert_int_equal(held->t_ns, i);
		for (uint32_t b = 0; b < 100; b++)
			assert_int_equal(held->data[b], byte_of(i, b));
	}
	close_with(3);
}

static void clearing_at_any_depth_gives_every_chunk_back(void **state)
{
	(void)state;
	for (uint32_t depth = 0; depth < 200; depth += 7) {
		open_with(16);
		for (uint32_t i = 0; i < depth; i++)
			assert_true(append(i, 200));
		for (uint32_t i = 0; i < depth / 3; i++)
			log_pop(&packets, &arena);
		close_with(16);
	}
}

static void memory_that_is_no_whole_number_of_chunks_is_used_up_to_the_last_whole_one(void **state)
{
	(void)state;
	memory = aligned_alloc(64, 3 * CHUNK_BYTES - 64);
	assert_non_null(memory);
	arena_init(&arena, memory, 3 * CHUNK_BYTES - 64);
	memset(&packets, 0, sizeof(packets));
	assert_true(append(1, LOG_STORED_MAX));
	assert_true(append(2, LOG_STORED_MAX));
	assert_false(append(3, LOG_STORED_MAX));
	close_with(2);
}

static void no_memory_at_all_is_no_record(void **state)
{
	(void)state;
	arena_init(&arena, NULL, 0);
	memset(&packets, 0, sizeof(packets));
	assert_null(log_append(&packets, &arena, 0));
	assert_null(log_append(&packets, &arena, 10));
	log_clear(&packets, &arena);
}

/* Returns the share of the pages that lie in this memory which the kernel has given it. */
static double pages_there(const void *at, size_t bytes)
{
	static unsigned char there[BESIDE_PAGES];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = RTE_ALIGN_CEIL((uintptr_t)at, page);
	const size_t pages = ((uintptr_t)at + bytes - from) / page;
	size_t n = 0;

	assert_true(pages > 0 && pages <= BESIDE_PAGES);
	assert_int_equal(mincore((void *)from, pages * page, there), 0);
	for (size_t i = 0; i < pages; i++)
		n += there[i] & 1;
	return (double)n / (double)pages;
}

/* A compiler makes calloc of malloc and memset, and large memory from calloc has no pages. */
static void what_stands_beside_an_arena_has_its_pages_if_packets_come_in_real_time(void **state)
{
	const size_t bytes = (size_t)BESIDE_PAGES * 4096;
	uint8_t *beside;
	double there;

	(void)state;
	/* Fresh memory each time, which malloc does not write to. */
	mallopt(M_PERTURB, 0);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	for (int live = 0; live <= 1; live++) {
		arena_init(&arena, NULL, 0);
		arena.live = live;
		beside = arena_beside(&arena, bytes);
		assert_non_null(beside);
		there = pages_there(beside, bytes);
		assert_true(live ? there == 1 : there < 0.5);
		for (size_t i = 0; i < bytes; i += 4096)
			assert_int_equal(beside[i], 0);
		free(beside);
	}
}

GROUP(log)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(records_of_every_size_come_back_as_they_went_in),
	        cmocka_unit_test(the_largest_record_fits_alone_into_the_last_chunk_of_the_memory),
	        cmocka_unit_test(an_empty_log_takes_no_memory_until_its_first_record),
	        cmocka_unit_test(a_full_arena_says_so_and_what_was_there_stays),
	        cmocka_unit_test(a_million_records_pass_through_two_chunks),
	        cmocka_unit_test(random_fills_and_drains_keep_order_and_lose_no_chunk),
	        cmocka_unit_test(a_popped_record_can_be_read_until_the_next_append),
	        cmocka_unit_test(clearing_at_any_depth_gives_every_chunk_back),
	        cmocka_unit_test(
	                memory_that_is_no_whole_number_of_chunks_is_used_up_to_the_last_whole_one),
	        cmocka_unit_test(no_memory_at_all_is_no_record),
	        cmocka_unit_test(
	                what_stands_beside_an_arena_has_its_pages_if_packets_come_in_real_time),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
