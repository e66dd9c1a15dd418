/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tester with two ports: sends frames of one length at a rate out of one port, receives them at
 * the other, counts them, and measures how long each was on the way. It makes the trials of
 * bench_rfc2544.
 *
 * Frames: UDP to port 7 from 198.18.0.1 to 198.19.0.1 (RFC 2544, C.2.6.4; the addresses are
 * reserved for this), with the number of the trial and a stamp of the TSC at BENCH_STAMP_OFFSET.
 * The length of a frame includes its FCS, as in the RFC: 4 bytes more than an mbuf holds.
 *
 * Latency is from the moment of handing a frame to the sending device to the moment of receiving it
 * from the other, and includes both ports' own share.
 *
 * A gap of more than BENCH_TESTER_GAP_NS between two rounds of the loop, or in the polls of the
 * watched worker, makes a trial disturbed.
 *
 * Thread: the one that makes the trials, one at a time.
 */
#ifndef WEIR_BENCH_TESTER_H
#define WEIR_BENCH_TESTER_H

#include <rte_ring.h>

#include "live/worker.h"
#include "measure/bench_rfc2544.h"
#include "port/port.h"
#include "scenario/problem.h"

#define BENCH_TESTER_GAP_NS (50 * SIMTIME_US)
#define BENCH_TESTER_BYTES  1518 /* the longest frame, FCS included */

struct bench_tester {
	struct rfc2544_tester base;
	struct port ports[2]; /* out, in */
	struct port_conf conf[2];
	struct rte_mempool *pool;
	double tick_ns;
	/* What a full sending device does: it loses the frame (a cable of rings), or lets it wait
	 * (a NIC, whose medium is the limit). */
	bool full_is_lost;
	uint64_t wait_ns;      /* for frames on the way, after the last was sent */
	struct worker *worker; /* of the device under test, if it is in this process; or NULL */
	uint32_t trial;
	uint8_t frame[64]; /* the first bytes of each frame */
};

/* Opens and starts `out` and `in`, device texts as in a scenario. Returns 0, or -errno with
 * problem. */
int bench_tester_open(struct bench_tester *tester, const char *out, const char *in, double tick_ns,
                      struct problem *problem);
void bench_tester_close(struct bench_tester *tester);

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
