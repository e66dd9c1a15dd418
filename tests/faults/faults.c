/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of faults, and the counting. */
#include "faults.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_mempool.h>

extern const char __executable_start, etext;

void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

static struct faults_page *page;

static bool is_ours(const void *address)
{
	return (const char *)address >= &__executable_start && (const char *)address < &etext;
}

static void remember(const char *call)
{
	void *frames[3 * FAULTS_FRAMES];
	int n = backtrace(frames, 3 * FAULTS_FRAMES);
	uint64_t kept = 0;

	/* The first two frames belong to this file. */
	for (int i = 2; i < n && kept < FAULTS_FRAMES; i++) {
		if (is_ours(frames[i]))
			page->frames[kept++] =
			        (uint64_t)((const char *)frames[i] - &__executable_start);
	}
	page->n_frames = kept;
	strncpy(page->call, call, sizeof(page->call) - 1);
}

bool fault(enum fault_kind kind, const char *call)
{
	uint64_t n, at;

	if (!page || !(__atomic_load_n(&page->kinds, __ATOMIC_ACQUIRE) & kind))
		return false;
	n = __atomic_add_fetch(&page->counted, 1, __ATOMIC_ACQ_REL);
	at = page->at;
	if (at == 0 || n < at || (n > at && !page->onwards))
		return false;
	if (n == at)
		remember(call);
	__atomic_add_fetch(&page->refused, 1, __ATOMIC_ACQ_REL);
	return true;
}

void faults_begin(void)
{
	const char *path = getenv("WEIR_FAULTS");
	void *frames[2], *at;
	int fd;

	if (!path)
		return;
	/* The first call of backtrace loads a library. */
	backtrace(frames, 2);
	fd = open(path, O_RDWR | O_CLOEXEC);
	at = fd < 0 ? MAP_FAILED
	            : __real_mmap64(NULL, FAULTS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	                            0);
	if (at == MAP_FAILED) {
		perror(path);
		exit(125);
	}
	close(fd);
	faults_mempools();
	page = at;
}

/* ---- mbufs ---- */

static rte_mempool_dequeue_t real_dequeue[RTE_MEMPOOL_MAX_OPS_IDX];

/* Refuses mbufs to callers in weir, and for copies of packets. A mempool's own calls while it is
 * freed pass. */
static int dequeue(struct rte_mempool *pool, void **objects, unsigned n)
{
	if (is_ours(__builtin_return_address(0)) && fault(FAULT_MBUF, "an mbuf"))
		return -ENOBUFS;
	return real_dequeue[pool->ops_index](pool, objects, n);
}

void faults_mempools(void)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (rte_mempool_ops_table.ops[i].dequeue == dequeue)
			continue;
		real_dequeue[i] = rte_mempool_ops_table.ops[i].dequeue;
		rte_mempool_ops_table.ops[i].dequeue = dequeue;
	}
}
