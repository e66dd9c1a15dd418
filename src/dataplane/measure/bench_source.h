/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of the packets of a measurement: a receive callback on an ethdev port, which runs
 * inside weir's own call of rte_eth_rx_burst. A saturated net_null port needs none.
 *
 *   shape    the frames that the device gives get the lengths of a pattern, one after the other; a
 *            frame that does not fit into one mbuf becomes a chain, as a NIC would deliver it
 *   top up   the source makes what the device does not give: a net_ring port always has a full
 *            burst
 *   paced    the device gives nothing (net_null with no-rx=1), and the source makes one packet each
 *            `period`. Packets that came due while the worker was away wait, up to as many as a
 *            NIC's receive ring has; packets beyond that are lost before weir sees them, as
 *            `missed`. It is not weir's fault if packets came while others had the processor, or
 *            while the worker was behind because of that (bench_away.h). Such packets count as
 *            lost first, as `missed_away`
 *   headers  each frame begins with the bytes of bench_headers, which routers and rules can act on;
 *            without, it begins with whatever the buffer holds
 *   sources  the frame has Ethernet, IPv4 and UDP headers, whose source address is one of so many
 *            from 10.0.0.0 on, all of them in turn, in an order in which neighbours do not follow
 *            each other
 *   stamped  the frame carries the instant at which it was made (the run's clock), for bench_sink
 *
 * Thread: set up by control while the worker stands still, then the worker's.
 */
#ifndef WEIR_BENCH_SOURCE_H
#define WEIR_BENCH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "machine/clock.h"
#include "measure/bench_away.h"

#define BENCH_STAMP_OFFSET  48 /* in the frame, behind Ethernet, IPv4 and UDP headers */
#define BENCH_HEADERS_BYTES 56 /* behind them is the stamp of a frame with `headers` */
#define BENCH_RX_RING       1024
#define BENCH_PATTERN_MAX   64

struct bench_frames {
	uint32_t n;
	uint16_t bytes[BENCH_PATTERN_MAX];
};

struct bench_source {
	struct rte_mempool *pool;
	const struct clock *clock;
	struct bench_frames frames;
	bool top_up, stamped;
	bool headers;       /* each frame then has BENCH_HEADERS_BYTES + 8 bytes at least */
	uint32_t addresses; /* `sources`; a power of two; 0: frames as the device gives them */
	uint64_t period_ps; /* 0: not paced */
	/* the worker's */
	uint32_t at;      /* in the pattern */
	uint32_t address; /* the next */
	bool started;
	simtime begin_ns;           /* instant of the first packet */
	uint64_t due, made, missed; /* numbers of paced packets, so far */
	uint64_t missed_away;       /* of `missed` */
	uint64_t excused;           /* of the waiting ones: came by others' fault */
	struct bench_away away;
	uint64_t starved; /* packets for which the pool had no mbuf */
	uint16_t port;
	const struct rte_eth_rxtx_callback *callback;
};

/* Fills the pattern: the same length for all, or for 0 the IMIX: 28 x 64, 16 x 570, 4 x 1518,
 * spread evenly. */
void bench_frames_fill(struct bench_frames *frames, uint32_t frame_bytes);
double bench_frames_mean(const struct bench_frames *frames);

/* Ethernet, IPv4 that is capable of ECN (ECT(0)) with a TTL of 64, a feedback header that requests
 * the link of the first router, and 6 bytes of UDP: the IP packet is 50 bytes long, whatever the
 * length of the frame. */
extern const uint8_t bench_headers[BENCH_HEADERS_BYTES];

/* Returns the offset of a frame's stamp. */
static inline uint32_t bench_stamp_at(bool headers)
{
	return headers ? BENCH_HEADERS_BYTES : BENCH_STAMP_OFFSET;
}

/* Returns true if a saturated net_null port needs a source for such frames. */
bool bench_frames_need_source(uint32_t frame_bytes);

/* For a paced source: `left` packets are in the ring, and `arrived` packets come, `away` of these
 * by others' fault. Packets for which the ring has no room are lost. Returns how many remain. */
uint64_t bench_source_arrive(struct bench_source *source, uint64_t left, uint64_t arrived,
                             uint64_t away);

/* Adds the callback to a port. Returns 0 or -errno. */
int bench_source_attach(struct bench_source *source, uint16_t port);
/* Removes the callback. To be called while the worker stands still. */
void bench_source_detach(struct bench_source *source);

#endif
