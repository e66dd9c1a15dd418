/* SPDX-License-Identifier: BSD-3-Clause */
/* The mempool of offline programs. No EAL is started here: that is the first claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "packet/packet.h"
#include "runner/group.h"

#define FIRST 64u
#define MOST  100u

static struct rte_mbuf *mbufs[MOST];

static void take(struct rte_mempool *pool, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		mbufs[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(mbufs[i]);
	}
}

static void give_back(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free(mbufs[i]);
}

static void mbufs_have_the_room_that_a_pool_s_have(void **state)
{
	struct rte_mempool *pool = offline_pool_make("room", FIRST, MOST, NULL);

	(void)state;
	assert_non_null(pool);
	take(pool, FIRST);
	for (uint32_t i = 0; i < FIRST; i++) {
		assert_ptr_equal(mbufs[i]->pool, pool);
		assert_int_equal((uintptr_t)mbufs[i] % RTE_CACHE_LINE_SIZE, 0);
		assert_int_equal(mbufs[i]->priv_size, PACKET_PRIVATE_BYTES);
		assert_int_equal(rte_pktmbuf_tailroom(mbufs[i]),
		                 RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM);
		/* The mbufs do not overlap: AddressSanitizer and the header of the next mbuf would
		 * show it. */
		memset(packet_of(mbufs[i]), (int)i, PACKET_PRIVATE_BYTES);
		memset(rte_pktmbuf_append(mbufs[i], 1518), (int)i, 1518);
	}
	for (uint32_t i = 0; i < FIRST; i++)
		assert_int_equal(rte_pktmbuf_mtod(mbufs[i], uint8_t *)[1517], i);
	give_back(FIRST);
	offline_pool_free(pool);
}

static void it_grows_to_the_most_and_no_further(void **state)
{
	struct rte_mempool *pool = offline_pool_make("grows", 1, MOST, NULL);

	(void)state;
	assert_int_equal(offline_pool_room(pool), MOST);
	take(pool, FIRST - 10);
	assert_int_equal(pool_size(pool), FIRST); /* doubled six times */
	assert_int_equal(offline_pool_room(pool), MOST - FIRST + 10);
	assert_int_equal(offline_pool_grow(pool, 30), 30);
	assert_int_equal(offline_pool_grow(pool, 30), MOST - FIRST - 30);
	assert_int_equal(offline_pool_grow(pool, 30), 0);
	assert_int_equal(pool_size(pool), MOST);
	assert_int_equal(pool_available(pool), MOST - FIRST + 10);
	give_back(FIRST - 10);
	assert_int_equal(pool_available(pool), MOST);
	take(pool, MOST);
	assert_null(rte_pktmbuf_alloc(pool));
	give_back(MOST);
	offline_pool_free(pool);
}

static void what_came_back_last_goes_out_first(void **state)
{
	struct rte_mempool *pool = offline_pool_make("last", FIRST, MOST, NULL);
	struct rte_mbuf *last;

	(void)state;
	take(pool, 10);
	last = mbufs[9];
	assert_ptr_not_equal(last, mbufs[0]);
	give_back(10);
	assert_ptr_equal(rte_pktmbuf_alloc(pool), last);
	offline_pool_free(pool);
}

static void a_bulk_is_given_out_whole_or_not_at_all(void **state)
{
	struct rte_mempool *pool = offline_pool_make("bulk", FIRST, MOST, NULL);

	(void)state;
	assert_int_not_equal(rte_mempool_get_bulk(pool, (void **)mbufs, MOST + 1), 0);
	assert_int_equal(pool_available(pool), pool_size(pool));
	assert_int_equal(rte_mempool_get_bulk(pool, (void **)mbufs, MOST), 0);
	assert_int_equal(pool_available(pool), 0);
	rte_mempool_put_bulk(pool, (void **)mbufs, MOST);
	assert_int_equal(pool_available(pool), MOST);
	offline_pool_free(pool);
}

static void ops_that_nobody_registered_are_refused(void **state)
{
	(void)state;
	assert_null(offline_pool_make("none", FIRST, MOST, "no such ops"));
	assert_int_equal(rte_errno, EINVAL);
	offline_pool_free(NULL);
}

GROUP(offline_pool)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(mbufs_have_the_room_that_a_pool_s_have),
	        cmocka_unit_test(it_grows_to_the_most_and_no_further),
	        cmocka_unit_test(what_came_back_last_goes_out_first),
	        cmocka_unit_test(a_bulk_is_given_out_whole_or_not_at_all),
	        cmocka_unit_test(ops_that_nobody_registered_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
