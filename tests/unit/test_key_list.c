/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "holding/key_list.h"
#include "runner/group.h"

#define CHUNKS 16u

struct bench {
	struct arena arena;
	struct key_list_pool pool;
	void *memory;
};

static void bench_open(struct bench *bench, uint32_t chunks)
{
	memset(bench, 0, sizeof(*bench));
	bench->memory = aligned_alloc(64, (size_t)CHUNKS * CHUNK_BYTES);
	assert_non_null(bench->memory);
	arena_init(&bench->arena, bench->memory, (size_t)chunks * CHUNK_BYTES);
	bench->pool.arena = &bench->arena;
}

static bool add(struct bench *bench, struct key_list *key_list, simtime t_ns)
{
	struct wheel_key *key = key_list_add(&bench->pool, key_list);

	if (key)
		key->t_ns = t_ns;
	return key != NULL;
}

static void keys_are_read_in_the_order_of_their_insertion(void **state)
{
	struct bench bench;

	(void)state;
	bench_open(&bench, CHUNKS);
	/* around the edges of a block of 15, and of a chunk of 15 blocks */
	for (uint32_t n = 0; n < 500; n += n % 15 == 1 ? 13 : 1) {
		struct key_list key_list = {0};
		const struct wheel_key *key;
		wheel_link place;
		uint32_t read = 0;

		for (uint32_t i = 0; i < n; i++)
			assert_true(add(&bench, &key_list, i));
		place = key_list_begin(&key_list);
		while ((key = key_list_walk(&bench.arena, &key_list, &place)) != NULL)
			assert_int_equal(key->t_ns, read++);
		assert_int_equal(read, n);
		key_list_clear(&bench.pool, &key_list);
		assert_int_equal(bench.arena.used_chunks, 0);
	}
	free(bench.memory);
}

static void who_waits_at_the_end_reads_what_is_added(void **state)
{
	struct key_list key_list = {0};
	struct bench bench;
	wheel_link place;

	(void)state;
	bench_open(&bench, CHUNKS);
	assert_true(add(&bench, &key_list, 0));
	place = key_list_begin(&key_list);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(key_list_walk(&bench.arena, &key_list, &place)->t_ns, i);
		assert_null(key_list_walk(&bench.arena, &key_list, &place));
		assert_true(add(&bench, &key_list, i + 1));
	}
	key_list_clear(&bench.pool, &key_list);
	free(bench.memory);
}

static void key_lists_share_chunks_and_each_goes_back_when_it_is_empty(void **state)
{
	struct key_list key_lists[40] = {0};
	struct bench bench;

	(void)state;
	bench_open(&bench, CHUNKS);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(add(&bench, &key_lists[i], i));
	assert_int_equal(bench.arena.used_chunks, 3); /* 40 blocks */
	for (uint32_t i = 0; i < 40; i += 2)
		key_list_clear(&bench.pool, &key_lists[i]);
	/* free blocks are used before another chunk */
	for (uint32_t i = 0; i < 40; i += 2)
		assert_true(add(&bench, &key_lists[i], i));
	assert_int_equal(bench.arena.used_chunks, 3);
	for (uint32_t i = 0; i < 40; i++)
		key_list_clear(&bench.pool, &key_lists[i]);
	assert_int_equal(bench.arena.used_chunks, 0);
	free(bench.memory);
}

static void no_memory_is_said_and_the_key_list_stays_as_it_was(void **state)
{
	struct key_list key_list = {0}, other = {0};
	const struct wheel_key *key;
	struct bench bench;
	wheel_link place;
	uint32_t n = 0;

	(void)state;
	bench_open(&bench, 0);
	assert_false(add(&bench, &key_list, 0));
	assert_int_equal(key_list_begin(&key_list), 0);
	free(bench.memory);
	bench_open(&bench, 1);
	while (add(&bench, &key_list, n))
		n++;
	assert_int_equal(n, 15 * 15);
	assert_false(add(&bench, &other, 0));
	place = key_list_begin(&key_list);
	n = 0;
	while ((key = key_list_walk(&bench.arena, &key_list, &place)) != NULL)
		assert_int_equal(key->t_ns, n++);
	assert_int_equal(n, 15 * 15);
	key_list_clear(&bench.pool, &key_list);
	assert_true(add(&bench, &other, 0));
	free(bench.memory);
}

GROUP(key_list)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keys_are_read_in_the_order_of_their_insertion),
	        cmocka_unit_test(who_waits_at_the_end_reads_what_is_added),
	        cmocka_unit_test(key_lists_share_chunks_and_each_goes_back_when_it_is_empty),
	        cmocka_unit_test(no_memory_is_said_and_the_key_list_stays_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
