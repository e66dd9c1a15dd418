/* SPDX-License-Identifier: BSD-3-Clause */
/* The fixture watches the engine, so it is tested itself: it must detect every fault that it is
 * meant to detect. */
#include "rig.h"
#include "unable.h"
#include "runner/group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `crime` in a child. Returns the child's status, and its output in `said`. */
static int child_status(void (*crime)(struct rte_mempool *pool), struct rte_mempool *pool,
                        char *said, size_t room)
{
	int pipe_ends[2], status;
	size_t at = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(pipe_ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit no_core = {0, 0};

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL); /* CMocka's handler would continue the test */
		signal(SIGSEGV, SIG_DFL);
		dup2(pipe_ends[1], STDERR_FILENO);
		close(pipe_ends[0]);
		crime(pool);
		_exit(0);
	}
	close(pipe_ends[1]);
	while ((got = read(pipe_ends[0], said + at, room - 1 - at)) > 0)
		at += (size_t)got;
	said[at] = 0;
	/* The output that does not fit does not matter, but the child must not block on it. */
	for (char rest[512]; read(pipe_ends[0], rest, sizeof(rest)) > 0;)
		;
	close(pipe_ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void read_data_after_free(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	volatile uint8_t *data = rte_pktmbuf_mtod(mbuf, uint8_t *);

	rte_pktmbuf_free(mbuf);
	(void)data[0];
}

static void write_private_area_after_free(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	volatile struct packet *packet = packet_of(mbuf);

	rte_pktmbuf_free(mbuf);
	packet->flags = 1;
}

static void read_header_after_raw_put(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	rte_mempool_put(pool, mbuf);
	(void)*(volatile uint32_t *)&mbuf->pkt_len;
}

static void free_twice(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	rte_pktmbuf_free(mbuf);
	rte_pktmbuf_free(mbuf);
}

static void put_twice_by_the_bulk(struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[2];

	mbufs[0] = mbufs[1] = rte_pktmbuf_alloc(pool);
	rte_mempool_put_bulk(pool, (void **)mbufs, 2);
}

static void use_it_rightly(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	memset(rte_pktmbuf_mtod(mbuf, void *), 1, rte_pktmbuf_tailroom(mbuf));
	rte_pktmbuf_free(mbuf);
}

static void a_free_mbuf_that_is_touched_ends_the_program(void **state)
{
	static void (*const crimes[])(struct rte_mempool *) = {
	        read_data_after_free, write_private_area_after_free, read_header_after_raw_put,
	        free_twice};
	struct rte_mempool *pool = poison_pool_make("crime", 8, PACKET_PRIVATE_BYTES, 2176);
	char said[4096];

	(void)state;
	if (!poison_is_real()) {
		poison_pool_free(pool);
		UNABLE("needs AddressSanitizer: meson setup -Db_sanitize=address,undefined");
	}
	for (size_t i = 0; i < LENGTH(crimes); i++) {
		int status = child_status(crimes[i], pool, said, sizeof(said));

		assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		assert_non_null(strstr(said, "AddressSanitizer: use-after-poison"));
	}
	poison_pool_free(pool);
}

static void an_mbuf_that_is_put_twice_ends_the_program_without_asan_too(void **state)
{
	struct rte_mempool *pool = poison_pool_make("crime", 8, PACKET_PRIVATE_BYTES, 2176);
	char said[4096];
	int status;

	(void)state;
	status = child_status(put_twice_by_the_bulk, pool, said, sizeof(said));
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
	assert_non_null(strstr(said, "twice"));
	poison_pool_free(pool);
}

static void right_use_is_not_complained_of(void **state)
{
	struct rte_mempool *pool = poison_pool_make("right", 8, PACKET_PRIVATE_BYTES, 2176);
	char said[4096];

	(void)state;
	for (int i = 0; i < 20; i++)
		use_it_rightly(pool);
	assert_int_equal(child_status(use_it_rightly, pool, said, sizeof(said)), 0);
	assert_string_equal(said, "");
	poison_pool_free(pool);
}

static void what_is_out_is_counted(void **state)
{
	struct rte_mempool *pool = poison_pool_make("count", 8, PACKET_PRIVATE_BYTES, 2176);
	struct rte_mbuf *mbufs[8], *one_more;

	(void)state;
	assert_int_equal(poison_missing(pool), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, 8), 0);
	assert_int_equal(poison_missing(pool), 8);
	one_more = rte_pktmbuf_alloc(pool);
	assert_null(one_more);
	rte_pktmbuf_free_bulk(mbufs, 7);
	assert_int_equal(poison_missing(pool), 1);
	assert_int_equal(poison_gets(pool), 8);
	assert_int_equal(poison_puts(pool), 7);
	assert_int_equal(rte_mempool_avail_count(pool), 7);
	rte_pktmbuf_free(mbufs[7]);
	poison_limit(pool, 1);
	mbufs[0] = rte_pktmbuf_alloc(pool);
	assert_non_null(mbufs[0]);
	assert_null(rte_pktmbuf_alloc(pool));
	rte_pktmbuf_free(mbufs[0]);
	poison_pool_free(pool);
}

static void what_is_free_longest_is_given_out_next(void **state)
{
	struct rte_mempool *pool = poison_pool_make("fifo", 4, PACKET_PRIVATE_BYTES, 2176);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	(void)state;
	rte_pktmbuf_free(mbuf);
	for (int i = 0; i < 3; i++) {
		struct rte_mbuf *other = rte_pktmbuf_alloc(pool);

		assert_ptr_not_equal(other, mbuf);
		rte_pktmbuf_free(other);
	}
	poison_pool_free(pool);
}

GROUP(poison)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_free_mbuf_that_is_touched_ends_the_program),
	        cmocka_unit_test(an_mbuf_that_is_put_twice_ends_the_program_without_asan_too),
	        cmocka_unit_test(right_use_is_not_complained_of),
	        cmocka_unit_test(what_is_out_is_counted),
	        cmocka_unit_test(what_is_free_longest_is_given_out_next),
	};

	return cmocka_run_group_tests_name("poison", tests, rig_group_setup, rig_group_teardown);
}
