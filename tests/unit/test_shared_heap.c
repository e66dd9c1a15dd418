/* SPDX-License-Identifier: BSD-3-Clause */
/* How many heaps there are when threads allocate beside each other. Each is tried in a child: what
 * the C library has been told holds for the process. */
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

#include "machine/shared_heap.h"
#include "runner/group.h"
#include "unable.h"

#define THREADS 4
#define UNKNOWN 255

static void *allocate(void *argument)
{
	pthread_barrier_t *barrier = argument;
	void *volatile mine = malloc(1000); /* or the compiler leaves both out */

	/* None ends before all have allocated. */
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

/* In a child: the heaps after THREADS threads have allocated beside each other. */
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

static void threads_of_a_live_run_share_one_heap(void **state)
{
	int without = heaps_of_threads(false);

	(void)state;
	if (without == UNKNOWN || without == 1)
		UNABLE("this C library, or a sanitizer, has no heaps of threads");
	assert_in_range(without, 2, THREADS + 1);
	assert_int_equal(heaps_of_threads(true), 1);
}

GROUP(shared_heap)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(threads_of_a_live_run_share_one_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
