/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_cable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "port/port.h"

/* Makes the ethdev `name`, of which DPDK takes the part behind `net_ring_`. */
static int make_port(const char *name, struct rte_ring *rx, struct rte_ring *tx)
{
	struct rte_ring *in[1] = {rx}, *out[1] = {tx};

	return rte_eth_from_rings(name + strlen("net_ring_"), in, 1, out, 1, rte_socket_id());
}

int bench_cables_make(struct bench_cables *cables, struct problem *problem)
{
	memset(cables, 0, sizeof(*cables));
	for (int i = 0; i < 4; i++) {
		char name[RTE_RING_NAMESIZE];

		snprintf(name, sizeof(name), "bench-cable-%d", i);
		cables->rings[i] = rte_ring_create(name, BENCH_CABLE_FRAMES, (int)rte_socket_id(),
		                                   RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!cables->rings[i])
			goto failed;
	}
	for (int i = 0; i < 2; i++) {
		struct rte_ring *to = cables->rings[2 * i], *from = cables->rings[2 * i + 1];

		snprintf(cables->weir[i], sizeof(cables->weir[i]), BENCH_CABLE_PREFIX "_weir%d", i);
		snprintf(cables->tester[i], sizeof(cables->tester[i]),
		         BENCH_CABLE_PREFIX "_tester%d", i);
		if (make_port(cables->weir[i], to, from) < 0 ||
		    make_port(cables->tester[i], from, to) < 0)
			goto failed;
	}
	port_offer(BENCH_CABLE_PREFIX);
	return 0;

failed:
	problem_set(problem, -1, "no rings between weir and the tester: %s",
	            rte_strerror(rte_errno));
	bench_cables_free(cables);
	return -ENOMEM;
}

void bench_cables_empty(struct bench_cables *cables)
{
	struct rte_mbuf *mbuf;

	for (int i = 0; i < 4; i++) {
		while (cables->rings[i] &&
		       rte_ring_sc_dequeue(cables->rings[i], (void **)&mbuf) == 0)
			rte_pktmbuf_free(mbuf);
	}
}

void bench_cables_free(struct bench_cables *cables)
{
	port_offer(NULL);
	bench_cables_empty(cables);
	for (int i = 0; i < 4; i++)
		rte_ring_free(cables->rings[i]);
}
