/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/heap.h"
#include "random/draw.h"
#include "runner/group.h"

#define TIMERS 500u
#define MOVES  20000u

struct bell {
	struct timer timer;
	uint32_t index;
};

static uint32_t rung[TIMERS], n_rung;

static void ring(void *argument, simtime now)
{
	(void)now;
	rung[n_rung++] = ((struct bell *)argument)->index;
}

static void bells_make(struct heap *heap, struct bell *bells, uint32_t n)
{
	heap_init(heap);
	n_rung = 0;
	for (uint32_t i = 0; i < n; i++) {
		bells[i] = (struct bell){.index = i};
		bells[i].timer = (struct timer){.fire = ring, .argument = &bells[i]};
		assert_int_equal(heap_announce(heap), 0);
	}
}

static void timers_of_one_instant_go_off_in_the_order_in_which_they_were_set(void **state)
{
	static struct bell bells[10];
	static const uint32_t order[] = {3, 7, 1, 9, 0};
	struct heap heap;

	(void)state;
	bells_make(&heap, bells, 10);
	for (int i = 0; i < 5; i++)
		timer_set(&heap, &bells[order[i]].timer, 100);
	timer_set(&heap, &bells[5].timer, 99);
	timer_set(&heap, &bells[3].timer, 100); /* again: behind the others */
	timer_clear(&heap, &bells[9].timer);
	while (heap_next(&heap) != SIMTIME_NEVER)
		heap_fire(&heap);
	assert_int_equal(n_rung, 5);
	assert_int_equal(rung[0], 5);
	assert_int_equal(rung[1], 7);
	assert_int_equal(rung[2], 1);
	assert_int_equal(rung[3], 0);
	assert_int_equal(rung[4], 3);
	heap_release(&heap);
}

/* Twenty thousand random moves, compared with a search of all timers. */
static void the_first_is_always_the_earliest(void **state)
{
	static struct bell bells[TIMERS];
	struct draw_key key = draw_key_make(1, "heap", "test");
	struct heap heap;

	(void)state;
	bells_make(&heap, bells, TIMERS);
	for (uint32_t move = 0; move < MOVES; move++) {
		uint64_t draw = draw_u64(key, move, 0);
		struct bell *bell = &bells[draw % TIMERS];
		simtime first = SIMTIME_NEVER;

		if (draw >> 61 == 0)
			timer_clear(&heap, &bell->timer);
		else
			timer_set(&heap, &bell->timer, draw >> 40 & 0xffff);
		for (uint32_t i = 0; i < TIMERS; i++)
			first = simtime_min(first, timer_at(&bells[i].timer));
		assert_true(heap_next(&heap) == first);
	}
	heap_release(&heap);
}

/* ---- timers that are moved while one goes off ---- */

struct dance {
	struct heap heap;
	struct timer timers[TIMERS];
	simtime at_ns[TIMERS]; /* SIMTIME_NEVER: not set */
	uint64_t order[TIMERS], orders, drawn, fired;
	struct draw_key key;
};

static struct dance dance;

static void dance_set(uint32_t i, simtime at_ns)
{
	dance.at_ns[i] = at_ns;
	dance.order[i] = dance.orders++;
	timer_set(&dance.heap, &dance.timers[i], at_ns);
}

/* Asserts that this timer was the earliest, and of those the one set first. Then it moves up to
 * three others; it moves itself half of the times, before them, after them, or not at all. */
static void dance_step(void *argument, simtime now)
{
	uint32_t me = (uint32_t)((struct timer *)argument - dance.timers);
	uint64_t draw = draw_u64(dance.key, dance.drawn++, 0);

	for (uint32_t i = 0; i < TIMERS; i++)
		assert_false(dance.at_ns[i] < now ||
		             (dance.at_ns[i] == now && dance.order[i] < dance.order[me]));
	dance.fired++;
	dance.at_ns[me] = SIMTIME_NEVER;
	if (draw & 1)
		dance_set(me, now + (draw >> 8 & 0x3f));
	for (uint32_t k = 0; k < (draw >> 1 & 3); k++) {
		uint64_t other = draw_u64(dance.key, dance.drawn++, 0);
		uint32_t i = (uint32_t)(other % TIMERS);

		if (other >> 62 == 0) {
			dance.at_ns[i] = SIMTIME_NEVER;
			timer_clear(&dance.heap, &dance.timers[i]);
		} else {
			dance_set(i, now + (other >> 32 & 0x3f));
		}
	}
	if ((draw >> 3 & 3) == 3)
		dance_set(me, now + (draw >> 16 & 0x3f));
}

static void timers_may_be_moved_while_one_goes_off(void **state)
{
	(void)state;
	heap_init(&dance.heap);
	dance.key = draw_key_make(2, "heap", "dance");
	for (uint32_t i = 0; i < TIMERS; i++) {
		dance.timers[i] = (struct timer){.fire = dance_step, .argument = &dance.timers[i]};
		assert_int_equal(heap_announce(&dance.heap), 0);
		dance_set(i, i % 50);
	}
	while (heap_next(&dance.heap) != SIMTIME_NEVER && dance.fired < MOVES)
		heap_fire(&dance.heap);
	assert_true(dance.fired > 1000);
	heap_release(&dance.heap);
}

GROUP(heap)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(timers_of_one_instant_go_off_in_the_order_in_which_they_were_set),
	        cmocka_unit_test(the_first_is_always_the_earliest),
	        cmocka_unit_test(timers_may_be_moved_while_one_goes_off),
	};

	return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
