/* SPDX-License-Identifier: BSD-3-Clause */
/* The fates of a live run on their way from the workers to control. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/fate_queue.h"
#include "one_processor.h"
#include "runner/group.h"

/* The last number received from each port, and the number of all. */
struct ear {
	struct witness witness;
	uint64_t last[2], heard;
};

static void hear(struct witness *witness, const struct fate *fate)
{
	struct ear *ear = (struct ear *)witness;

	assert_in_range(fate->port, 0, 1);
	assert_true(fate->packet > ear->last[fate->port]);
	assert_int_equal(fate->t_out_ns, fate->packet * 3);
	assert_int_equal(fate->queue_average_bytes, fate->packet * 5);
	ear->last[fate->port] = fate->packet;
	ear->heard++;
}

static void tell(struct fate_queue *fate_queue, uint32_t port, uint64_t number)
{
	struct witness *witness = fate_queue_witness(fate_queue);
	const struct fate fate = {
	        .port = port,
	        .packet = number,
	        .t_out_ns = number * 3,
	        .queue_average_bytes = number * 5,
	};

	witness->tell(witness, &fate);
}

static void what_finds_no_room_is_counted_and_the_rest_comes_in_order(void **state)
{
	struct fate_queue *fate_queue = fate_queue_make();
	struct ear ear = {.witness.tell = hear};

	(void)state;
	assert_non_null(fate_queue);
	for (uint64_t i = 1; i <= FATE_QUEUE_ROOM + 1000; i++)
		tell(fate_queue, 0, i);
	/* A ring has room for one less than its size. */
	assert_int_equal(fate_queue_missed(fate_queue), 1001);
	fate_queue_empty(fate_queue, &ear.witness);
	assert_int_equal(ear.heard, FATE_QUEUE_ROOM - 1);
	tell(fate_queue, 0, FATE_QUEUE_ROOM + 2000);
	fate_queue_empty(fate_queue, &ear.witness);
	assert_int_equal(ear.heard, FATE_QUEUE_ROOM);
	assert_int_equal(ear.last[0], FATE_QUEUE_ROOM + 2000);
	fate_queue_free(fate_queue);
}

#define EACH 20000

static struct fate_queue *shared;
static uint64_t each, over;

static void *work(void *port)
{
	for (uint64_t i = 1; i <= each; i++)
		tell(shared, (uint32_t)(uintptr_t)port, i);
	__atomic_add_fetch(&over, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Two workers put in `much` fates each, at once or in turn. Returns how many found no room; all
 * others are received. */
static uint64_t work_and_hear(uint64_t much, bool in_turn)
{
	struct ear ear = {.witness.tell = hear};
	pthread_t threads[2];
	uint64_t missed, done = 0;
	uintptr_t begun = 0;

	shared = fate_queue_make();
	assert_non_null(shared);
	each = much;
	over = 0;
	while (done < 2) {
		for (; begun < 2 && (begun == done || !in_turn); begun++)
			assert_int_equal(pthread_create(&threads[begun], NULL, work, (void *)begun),
			                 0);
		fate_queue_empty(shared, &ear.witness);
		done = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fate_queue_empty(shared, &ear.witness);
	missed = fate_queue_missed(shared);
	assert_int_equal(ear.heard + missed, 2 * much);
	fate_queue_free(shared);
	return missed;
}

static void two_workers_are_heard_each_in_its_order(void **state)
{
	(void)state;
	assert_int_equal(work_and_hear(EACH, false), 0);
}

/* Enough for many slices of a processor. Under ThreadSanitizer a fate takes some ten times as long,
 * so that fewer last as many slices. */
#ifdef __SANITIZE_THREAD__
#define MUCH (5 * EACH)
#else
#define MUCH (50 * EACH)
#endif

static void work_much(bool in_turn)
{
	work_and_hear(MUCH, in_turn);
}

static void workers_that_share_a_processor_do_not_wait_for_each_other(void **state)
{
	const uint64_t in_turn_ns = one_processor(work_much, true);

	(void)state;
	assert_true(one_processor(work_much, false) < ONE_PROCESSOR_MORE * in_turn_ns);
}

GROUP(fate_queue)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_finds_no_room_is_counted_and_the_rest_comes_in_order),
	        cmocka_unit_test(two_workers_are_heard_each_in_its_order),
	        cmocka_unit_test(workers_that_share_a_processor_do_not_wait_for_each_other),
	};

	return cmocka_run_group_tests_name("fate_queue", tests, NULL, NULL);
}
