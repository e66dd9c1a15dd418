/* SPDX-License-Identifier: BSD-3-Clause */
/* A bell: nothing that is put into a ring is missed, however the two threads meet. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/bell.h"
#include "runner/group.h"

#define ROUNDS 20000

static bool is_readable(const struct bell *bell)
{
	struct pollfd polled = {.fd = bell->fd, .events = POLLIN};

	return poll(&polled, 1, 0) > 0;
}

static void it_rings_only_for_who_listens_and_once(void **state)
{
	struct bell bell = {0};
	(void)state;

	bell_ring(&bell); /* not made: nothing happens */
	assert_int_equal(bell_make(&bell), 0);
	bell_ring(&bell);
	assert_false(is_readable(&bell));
	bell_listen(&bell);
	bell_ring(&bell);
	bell_ring(&bell);
	assert_true(is_readable(&bell));
	bell_ignore(&bell, true);
	assert_false(is_readable(&bell));
	bell_ring(&bell);
	assert_false(is_readable(&bell));
	bell_free(&bell);
}

/* A ring of one place: what is put there is a number. */
static struct bell bell;
static uint32_t place;

static void *put(void *argument)
{
	(void)argument;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&place, __ATOMIC_ACQUIRE) != 0)
			sched_yield();
		__atomic_store_n(&place, i, __ATOMIC_RELEASE);
		bell_ring(&bell);
	}
	return NULL;
}

static void a_sleeper_misses_nothing(void **state)
{
	struct pollfd polled = {.events = POLLIN};
	pthread_t thread;
	(void)state;

	assert_int_equal(bell_make(&bell), 0);
	polled.fd = bell.fd;
	assert_int_equal(pthread_create(&thread, NULL, put, NULL), 0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&place, __ATOMIC_ACQUIRE) == 0) {
			polled.revents = 0;
			bell_listen(&bell);
			/* Without an end: if the bell is not rung, the test's limit of time is. */
			if (__atomic_load_n(&place, __ATOMIC_ACQUIRE) == 0)
				poll(&polled, 1, -1);
			bell_ignore(&bell, polled.revents != 0);
		}
		assert_int_equal(place, i);
		__atomic_store_n(&place, 0, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
	bell_free(&bell);
}

GROUP(bell)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(it_rings_only_for_who_listens_and_once),
	        cmocka_unit_test(a_sleeper_misses_nothing),
	};

	return cmocka_run_group_tests_name("bell", tests, NULL, NULL);
}
