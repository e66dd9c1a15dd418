/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that has left a rig, as frames: where, when, and the bytes.
 *
 *   seen_run_out(rig);
 *   ... seen[0].frame ...
 */
#ifndef WEIR_TEST_SEEN_H
#define WEIR_TEST_SEEN_H

#include <string.h>

#include "frame.h"
#include "rig.h"

struct seen {
	uint32_t port;
	simtime due_ns;
	uint32_t bytes, wire_bytes, segments;
	uint8_t frame[FRAME_BYTES_MAX];
};

static struct seen seen[4096];
static uint32_t n_seen;

/* Records what lies in the outlets, and empties them. */
static inline void seen_note(struct rig *rig)
{
	for (uint32_t port = 0; port < RIG_PORTS; port++) {
		const struct outlet *outlet = engine_outlet(rig->engine, port);

		for (uint32_t i = 0; i < outlet->n; i++) {
			struct rte_mbuf *mbuf = outlet->mbufs[i];
			struct seen *s = &seen[n_seen++];
			const void *bytes;

			assert_true(n_seen <= LENGTH(seen));
			assert_true(mbuf->pkt_len <= sizeof(s->frame));
			memset(s, 0, sizeof(*s));
			s->port = port;
			s->due_ns = outlet->due_ns[i];
			s->bytes = mbuf->pkt_len;
			s->wire_bytes = outlet->wire_bytes[i];
			s->segments = mbuf->nb_segs;
			bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, s->frame);
			if (bytes != s->frame)
				memcpy(s->frame, bytes, s->bytes);
		}
	}
	rig_collect(rig);
}

static inline void seen_advance(struct rig *rig, simtime now)
{
	rig->now = now;
	do
		seen_note(rig);
	while (engine_advance(rig->engine, now) > 0);
	rig_check(rig);
}

static inline void seen_run_out(struct rig *rig)
{
	simtime next;

	while ((next = engine_next(rig->engine)) != SIMTIME_NEVER)
		seen_advance(rig, RTE_MAX(next, rig->now));
}

#endif
