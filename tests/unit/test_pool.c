/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is made in a thread of its own, before memory_make asks for it (pool.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/pool.h"
#include "runner/group.h"

#define BYTES ((size_t)1 << 20)

/* Returns the number of pages that are in memory. */
static size_t pages_there(void *memory, size_t bytes)
{
	unsigned char there[BYTES / 512];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;

	assert_int_equal(mincore(memory, bytes, there), 0);
	for (size_t i = 0; i < bytes / page; i++)
		n += there[i] & 1;
	return n;
}

static size_t pages(size_t bytes)
{
	return bytes / (size_t)sysconf(_SC_PAGESIZE);
}

static void memory_is_touched_whether_made_ahead_or_not(void **state)
{
	static const size_t sizes[] = {BYTES, 2 * BYTES, BYTES / 2, BYTES};
	void *memory[4];
	(void)state;

	memory_ahead(BYTES);
	memory_ahead(2 * BYTES);
	memory_ahead(BYTES / 2); /* no room */
	for (unsigned i = 0; i < 4; i++) {
		memory[i] = memory_make(sizes[i]);
		assert_non_null(memory[i]);
		assert_int_equal(pages_there(memory[i], sizes[i]), pages(sizes[i]));
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(memory[i], memory[k]);
	}
	for (unsigned i = 0; i < 4; i++)
		memory_free(memory[i], sizes[i]);
}

static size_t mapped_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t n = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu", &n), 1);
	fclose(file);
	return n;
}

static void what_nobody_has_taken_is_freed(void **state)
{
	enum { ROUNDS = 20 };
	size_t before;
	(void)state;

	memory_ahead(BYTES);
	memory_ahead_end(); /* the thread's stack stays mapped for the next one */
	before = mapped_pages();
	for (unsigned i = 0; i < ROUNDS; i++) {
		memory_ahead(BYTES);
		memory_ahead_end();
	}
	assert_true(mapped_pages() < before + pages(ROUNDS * BYTES / 2));
	memory_ahead_end();
}

GROUP(pool)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(memory_is_touched_whether_made_ahead_or_not),
	        cmocka_unit_test(what_nobody_has_taken_is_freed),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
