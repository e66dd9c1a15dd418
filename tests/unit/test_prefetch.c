/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefetchers, in a log of many chunks. Their prefetches cannot be observed; their positions
 * can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "holding/train.h"
#include "poison_ops.h"
#include "rig.h"
#include "runner/group.h"

#define MBUFS  4096u
#define CHUNKS 64u
#define ROOM   OUTLET_ROOM
#define DUE    UINT64_C(1000)

static struct holder holder;
static struct log packets;
static struct prefetch prefetch;
static void *memory;
static uint64_t pushed, left;

static int open_all(void **state)
{
	(void)state;
	memory = aligned_alloc(64, (size_t)CHUNKS * CHUNK_BYTES);
	assert_non_null(memory);
	memset(&holder, 0, sizeof(holder));
	memset(&packets, 0, sizeof(packets));
	memset(&prefetch, 0, sizeof(prefetch));
	pushed = left = 0;
	arena_init(&holder.arena, memory, (size_t)CHUNKS * CHUNK_BYTES);
	holder.pool = poison_pool_make("scouted", MBUFS, PACKET_PRIVATE_BYTES,
	                               RTE_PKTMBUF_HEADROOM + 2048);
	assert_non_null(holder.pool);
	holder.copy_bytes_max = HOLD_COPY_BYTES_DEFAULT;
	holder.kept_max = UINT32_MAX;
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	while (packets.records)
		train_drop(&packets, &holder);
	log_clear(&packets, &holder.arena);
	hold_give_back(&holder, 0);
	assert_int_equal(poison_missing(holder.pool), 0);
	poison_pool_free(holder.pool);
	free(memory);
	return 0;
}

/* Pushes a burst of packets that are large and small in turn; all are due at one instant. */
static void push(uint16_t n)
{
	struct rte_mbuf *burst[BURST_MAX];
	struct burst value;

	for (uint16_t i = 0; i < n; i++) {
		uint16_t bytes = (pushed + i) % 3 ? 64 : 900;

		burst[i] = rte_pktmbuf_alloc(holder.pool);
		assert_non_null(burst[i]);
		memset(rte_pktmbuf_append(burst[i], bytes), 0, bytes);
	}
	memcpy(value.mbuf, burst, n * sizeof(*burst));
	burst_received(&value, n, 0, DUE, pushed);
	assert_int_equal(train_push(&packets, &holder, &value, 0, n, &(simtime){DUE}, true), n);
	pushed += n;
}

/* Lets the prefetcher go ahead, and then takes up to n packets. */
static void take(uint32_t n)
{
	static struct outlet outlet;
	uint32_t gone;

	prefetch_go(&prefetch, &packets, ROOM);
	outlet.n = OUTLET_ROOM - n;
	train_pop(&packets, &holder, DUE, &outlet, OUTLET_ROOM);
	gone = outlet.n - (OUTLET_ROOM - n);
	prefetch_follow(&prefetch, gone);
	rte_pktmbuf_free_bulk(&outlet.mbufs[OUTLET_ROOM - n], gone);
	left += gone;
}

/* Returns the number of packets from the one that leaves next to the prefetcher, by walking. */
static uint32_t walked(void)
{
	const struct chunk *chunk = packets.head;
	const uint8_t *at = packets.read;
	uint32_t n = 0;

	for (uint64_t trains = 0; at != prefetch.walk.at; trains++) {
		const struct held *train;

		assert_in_range(trains, 0, packets.records);
		if (chunk != packets.tail && at == chunk->end) {
			chunk = chunk->next;
			at = chunk->records;
			continue;
		}
		train = (const struct held *)(const void *)at;
		n += (uint32_t)train->n - train->gone;
		at += held_bytes_of_all(train);
	}
	assert_ptr_equal(chunk, prefetch.walk.chunk);
	return n;
}

static void it_goes_as_far_as_may_leave_and_not_much_further(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		push(BURST_MAX);
	prefetch_go(&prefetch, &packets, ROOM);
	assert_in_range(prefetch.ahead, ROOM, 3 * ROOM);
	assert_int_equal(prefetch.ahead, walked());
}

static void it_is_always_where_it_says_it_is(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		if (holder.arena.used_chunks < CHUNKS / 2)
			push((uint16_t)(1 + round * 7 % BURST_MAX));
		if (round % 101 == 0)
			prefetch.walk.at = NULL;
		if (round > 60)
			take(round * 13 % (ROOM + 1));
		if (prefetch.walk.at)
			assert_int_equal(prefetch.ahead, walked());
		else
			assert_int_equal(prefetch.ahead, 0);
	}
	assert_in_range(left, 20000, pushed);
}

static void at_the_end_of_the_log_it_waits_for_more(void **state)
{
	(void)state;
	push(10);
	take(3);
	assert_int_equal(prefetch.ahead, 7);
	push(5);
	prefetch_go(&prefetch, &packets, ROOM);
	assert_int_equal(prefetch.ahead, 12);
	assert_int_equal(prefetch.ahead, walked());
}

/* The chunk of the prefetcher returns to the arena with the last packet that it has seen. */
static void it_sets_out_anew_when_all_that_it_has_seen_has_left(void **state)
{
	(void)state;
	push(10);
	take(ROOM);
	assert_int_equal(left, 10);
	assert_null(prefetch.walk.at);
	push(10);
	prefetch_go(&prefetch, &packets, ROOM);
	assert_int_equal(prefetch.ahead, 10);
	assert_int_equal(prefetch.ahead, walked());
}

static void in_an_empty_log_it_stays(void **state)
{
	(void)state;
	prefetch_go(&prefetch, &packets, ROOM);
	assert_int_equal(prefetch.ahead, 0);
	take(ROOM);
	assert_null(prefetch.walk.at);
}

GROUP(prefetch)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(it_goes_as_far_as_may_leave_and_not_much_further,
	                                        open_all, close_all),
	        cmocka_unit_test_setup_teardown(it_is_always_where_it_says_it_is, open_all,
	                                        close_all),
	        cmocka_unit_test_setup_teardown(at_the_end_of_the_log_it_waits_for_more, open_all,
	                                        close_all),
	        cmocka_unit_test_setup_teardown(it_sets_out_anew_when_all_that_it_has_seen_has_left,
	                                        open_all, close_all),
	        cmocka_unit_test_setup_teardown(in_an_empty_log_it_stays, open_all, close_all),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
