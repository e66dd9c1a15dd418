/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes when the wire behind a port can be free, if its speed is known (`port ... speed
 * 10gbit`).
 *
 * Model. A frame takes (bytes + WIRE_OVERHEAD) * 8 / speed on the wire: 1,518 bytes with FCS 1.23
 * us at 10 Gbit/s. The wire is free when all frames handed over have left, if each frame began when
 * it was handed over or when the frame ahead had left. A device does not get a frame that could not
 * begin within WIRE_SLACK_NS: such a frame waits in weir, where it shows as lateness, and not
 * unseen in the device's queue.
 *
 * If the worker polls less often than every WIRE_SLACK_NS, the wire would run dry between two
 * polls. Then the worker hands over as much as lasts for the time since the last poll,
 * WIRE_ROUND_NS at most.
 *
 * Units: picoseconds, so 400 Gbit/s is 20 a byte; a fraction of one is cut off. So the computed
 * wire is faster than the real one by less than 0.1 % up to 8 Gbit/s, and exact at 10, 25, 40, 100,
 * 200 and 400 Gbit/s. Range: 213 days. No packet is dropped or reordered by it.
 *
 * Thread: the worker that sends.
 */
#ifndef WEIR_WIRE_H
#define WEIR_WIRE_H

#include <rte_mbuf.h>

#include "simtime.h"

#define WIRE_OVERHEAD 24 /* FCS, preamble, gap between frames */
#define WIRE_SLACK_NS 1000
#define WIRE_ROUND_NS 20000

struct wire {
	uint64_t byte_ps; /* 0: the speed is not known, and nothing waits */
	uint64_t free_ps;
	simtime asked_ns; /* the last call, if a frame had to wait; 0: none had to */
};

static inline void wire_init(struct wire *wire, uint64_t speed_bps)
{
	*wire = (struct wire){.byte_ps = speed_bps ? UINT64_C(8000000000000) / speed_bps : 0};
}

/* Returns how many of these frames, from the first on, may be handed over now. */
static inline uint32_t wire_takes(struct wire *wire, struct rte_mbuf *const *mbufs, uint32_t n,
                                  simtime now)
{
	simtime slack = WIRE_SLACK_NS;
	uint64_t at = now * 1000 > wire->free_ps ? now * 1000 : wire->free_ps, latest;
	uint32_t i;

	if (wire->asked_ns)
		slack = simtime_min(simtime_max(slack, now - wire->asked_ns), WIRE_ROUND_NS);
	latest = (now + slack) * 1000;
	for (i = 0; i < n && at <= latest; i++)
		at += (mbufs[i]->pkt_len + WIRE_OVERHEAD) * wire->byte_ps;
	wire->asked_ns = i < n ? now : 0;
	return i;
}

/* Returns the time that these frames take on the wire, for wire_used. To be computed before the
 * hand-over: the device may free what it takes. */
static inline uint64_t wire_time_ps(const struct wire *wire, struct rte_mbuf *const *mbufs,
                                    uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len + WIRE_OVERHEAD;
	return bytes * wire->byte_ps;
}

static inline void wire_used(struct wire *wire, simtime now, uint64_t time_ps)
{
	wire->free_ps = (now * 1000 > wire->free_ps ? now * 1000 : wire->free_ps) + time_ps;
}

#endif
