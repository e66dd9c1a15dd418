/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two cables between weir and a tester in the same process: four ethdev ports over rings, as
 * net_ring makes them of existing rings.
 *
 *   tester port 0 <==cable 0==> weir's port 0        weir's port 1 <==cable 1==> tester port 1
 *
 * A cable holds BENCH_CABLE_FRAMES a direction, like the receive ring of a NIC. Frames that do not
 * fit are lost, as on a NIC whose ring is not emptied.
 *
 * Thread: control. Sending and receiving: one thread an end.
 */
#ifndef WEIR_BENCH_CABLE_H
#define WEIR_BENCH_CABLE_H

#include <rte_ring.h>

#include "scenario/problem.h"

#define BENCH_CABLE_FRAMES 4096
#define BENCH_CABLE_PREFIX "net_ring_bench"

struct bench_cables {
	struct rte_ring *rings[4]; /* of cable i: [2i] to weir, [2i + 1] from weir */
	/* device texts for port_open */
	char weir[2][32], tester[2][32];
};

/* Makes the ports and offers them to port_open. Returns 0, or -errno with problem. */
int bench_cables_make(struct bench_cables *cables, struct problem *problem);
/* Frees the cables. To be called after the ports are closed. */
void bench_cables_free(struct bench_cables *cables);
/* Frees what lies in the cables. */
void bench_cables_empty(struct bench_cables *cables);

#endif
