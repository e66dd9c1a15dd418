/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of a packet on its way from one worker to another.
 *
 *   hop CPU CPU [SECONDS]
 *
 * The first processor writes struct packet and the first cache line of the frame of 32 mbufs, as a
 * receiver does, and puts them on a ring like the pipeline's; the second one takes them, reads
 * both, and sends them back on another ring. If both CPUs are the same, one thread does both: the
 * cost of the rings alone. Prints the ns that each of the two spends on a packet, there and back;
 * the median of five runs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "eal/offline_eal.h"
#include "machine/pool.h"
#include "packet/packet.h"

#define MBUFS 2048u
#define RING  1024u
#define RUNS  5

struct hop {
	struct rte_ring *there, *back;
	uint64_t packets;
	uint64_t sum; /* keeps the compiler from removing the reads */
	int cpu;      /* of the thread that takes packets */
	bool stop;
};

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* Sends on the packets that have come back. */
static void send_on(struct hop *hop)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t n = 0;

	if (rte_ring_free_count(hop->there) >= BURST_MAX)
		n = rte_ring_sc_dequeue_burst(hop->back, (void **)mbufs, BURST_MAX, NULL);
	for (uint32_t i = 0; i < n; i++) {
		*packet_of(mbufs[i]) = (struct packet){.t_ns = hop->packets, .wire_bytes = 64};
		*rte_pktmbuf_mtod(mbufs[i], uint64_t *) = hop->packets;
	}
	rte_ring_sp_enqueue_bulk(hop->there, (void **)mbufs, n, NULL);
	hop->packets += n;
}

/* Takes the packets that were sent, and returns them. */
static void take_up(struct hop *hop)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t n = rte_ring_sc_dequeue_burst(hop->there, (void **)mbufs, BURST_MAX, NULL);

	for (uint32_t i = 0; i < n; i++)
		hop->sum += packet_of(mbufs[i])->t_ns + *rte_pktmbuf_mtod(mbufs[i], uint64_t *);
	rte_ring_sp_enqueue_bulk(hop->back, (void **)mbufs, n, NULL);
}

static void *second(void *argument)
{
	struct hop *hop = argument;

	if (pin(hop->cpu) != 0)
		fprintf(stderr, "hop: there is no processor %d\n", hop->cpu);
	while (!__atomic_load_n(&hop->stop, __ATOMIC_ACQUIRE))
		take_up(hop);
	return NULL;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns ns a packet. `there`: the other processor, or -1: none. */
static double run(struct hop *hop, int there, double seconds)
{
	double begin, end;
	pthread_t thread;

	hop->packets = 0;
	hop->stop = false;
	hop->cpu = there;
	if (there >= 0 && pthread_create(&thread, NULL, second, hop) != 0)
		return 0;
	begin = seconds_now();
	do {
		for (int i = 0; i < 1000; i++) {
			send_on(hop);
			if (there < 0)
				take_up(hop);
		}
		end = seconds_now();
	} while (end - begin < seconds);
	if (there >= 0) {
		__atomic_store_n(&hop->stop, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
	}
	return (end - begin) * 1e9 / (double)hop->packets;
}

static int in_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct rte_mbuf *mbufs[RING / 2];
	struct rte_mempool *pool;
	struct problem problem;
	struct hop hop = {0};
	double ns[RUNS], seconds = argc > 3 ? atof(argv[3]) : 0.5;
	int there;

	if (argc < 3) {
		fprintf(stderr, "usage: hop CPU CPU [SECONDS]\n");
		return 2;
	}
	there = strcmp(argv[1], argv[2]) == 0 ? -1 : atoi(argv[2]);
	if (offline_eal_start(64, &problem) < 0 || pin(atoi(argv[1])) != 0) {
		fprintf(stderr, "hop: no EAL, or there is no processor %s\n", argv[1]);
		return 1;
	}
	pool = pool_make("hop", MBUFS, NULL);
	hop.there = rte_ring_create("there", RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	hop.back = rte_ring_create("back", RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (!pool || !hop.there || !hop.back ||
	    rte_pktmbuf_alloc_bulk(pool, mbufs, RING / 2) != 0) {
		fprintf(stderr, "hop: no memory\n");
		return 1;
	}
	rte_ring_sp_enqueue_bulk(hop.back, (void **)mbufs, RING / 2, NULL);
	for (int i = 0; i < RUNS; i++)
		ns[i] = run(&hop, there, seconds);
	qsort(ns, RUNS, sizeof(ns[0]), in_order);
	printf("%s to %s: %.1f ns a packet (%.1f to %.1f), %.0f Mpps\n", argv[1], argv[2],
	       ns[RUNS / 2], ns[0], ns[RUNS - 1], 1e3 / ns[RUNS / 2]);
	return 0;
}
