/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool from which the tests of super-frames take mbufs, none of which may be missing in the
 * end. And numbers drawn for hostile frames, the same in each run. */
#ifndef WEIR_TEST_SUPER_POOL_H
#define WEIR_TEST_SUPER_POOL_H

#include "random/draw.h"
#include "rig.h"

static struct rte_mempool *pool;

static inline uint64_t drawn(void)
{
	static uint64_t n;

	return draw_u64((struct draw_key){.word = {1, 2}}, n++, 0);
}

static inline int pool_up(void **state)
{
	int rc = rig_group_setup(state);

	if (rc == 0)
		pool = poison_pool_make("super", 2047, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	return rc < 0 || !pool ? -1 : 0;
}

static inline int pool_down(void **state)
{
	assert_int_equal(poison_missing(pool), 0);
	poison_pool_free(pool);
	return rig_group_teardown(state);
}

#endif
