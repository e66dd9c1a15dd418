/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of heaps when threads allocate in parallel. Each case is tried in a child, since a
 * setting of the C library holds for the process. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <malloc.h>

#include "machine/eal.h"
#include "runner/group.h"
#include "unable.h"

#define THREADS 4
#define UNKNOWN 255

static void *allocate(void *argument)
{
	pthread_barrier_t *barrier = argument;
	void *volatile mine = malloc(1000); /* otherwise the compiler removes both calls */

	/* No thread ends before all have allocated. */
	pthread_barrier_wait(barrier);
	free(mine);
	return NULL;
}

static int heaps(void)
{
#ifdef M_ARENA_MAX
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int n = 0;

	if (!out || malloc_info(0, out) != 0)
		return UNKNOWN;
	fclose(out);
	for (const char *at = text; (at = strstr(at, "<heap nr=")); at++)
		n++;
	free(text);
	return n > 0 ? n : UNKNOWN;
#else
	return UNKNOWN;
#endif
}

/* Returns the number of heaps in a child in which THREADS threads have allocated in parallel. */
static int heaps_of_threads(bool shared)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t threads[THREADS];
		pthread_barrier_t barrier;

		if (shared)
			shared_heap_use();
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, allocate, &barrier);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		_exit(heaps());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool has_heaps(void)
{
	int n = heaps_of_threads(false);

	return n != UNKNOWN && n > 1;
}

#define OTHER "this C library, or a sanitizer, has no heaps of threads"

static void threads_of_a_live_run_share_one_heap(void **state)
{
	(void)state;
	if (!has_heaps())
		UNABLE(OTHER);
	assert_int_equal(heaps_of_threads(true), 1);
}

/* Returns how many large blocks are mapped in a child that has freed one and allocated another. */
static int mapped_blocks(bool shared)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		void *volatile block;

		if (shared)
			shared_heap_use();
		block = malloc(10 * SHARED_HEAP_LARGE);
		free(block);
		block = malloc(10 * SHARED_HEAP_LARGE);
#ifdef M_ARENA_MAX
		_exit(block ? (int)mallinfo2().hblks : UNKNOWN);
#else
		_exit(UNKNOWN);
#endif
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_large_block_is_none_of_the_heaps_ever(void **state)
{
	(void)state;
	if (!has_heaps())
		UNABLE(OTHER);
	/* The blocks that were mapped before the fork count, too. */
	assert_int_equal(mapped_blocks(true), mapped_blocks(false) + 1);
}

GROUP(shared_heap)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(threads_of_a_live_run_share_one_heap),
	        cmocka_unit_test(a_large_block_is_none_of_the_heaps_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
