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
 *            while the worker was behind because of that. Such packets count as
 *            lost first, as `missed_preempted`
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

#include "account/histogram.h"
#include "machine/clock.h"
#include "simtime.h"

/*
 * Measures for how long others had the processor of a thread: other processes, the kernel's limit
 * of real-time threads, a hypervisor that reports what it steals. Two clocks show it: the run's,
 * which goes on, and the thread's processor time, which does not.
 *
 * Source: CLOCK_THREAD_CPUTIME_ID, clock_gettime(2). Linux leaves stolen time out of it
 * (CONFIG_PARAVIRT_TIME_ACCOUNTING); the time of interrupts is in it, and so counts as the
 * thread's.
 *
 * The thread calls bench_preempted_ask at each round. The second clock is a system call, so it is
 * read only after a long round, and once a millisecond.
 *
 * Work that has piled up during an absence is done afterwards. Until then, or for
 * BENCH_PREEMPTED_BEHIND times the length of the absence at most, the thread is behind by no fault
 * of its own. (At a share L of its capacity, that takes L / (1 - L) times as long: 4 at 80 %.)
 *
 * Thread: the one that is watched. `longest_own_ns` may be read, and set to 0, by others.
 */

#define BENCH_PREEMPTED_LONG_NS                                                                    \
	(20 * SIMTIME_US) /* a round that may contain an absence; an absence */
#define BENCH_PREEMPTED_EACH_NS SIMTIME_MS
#define BENCH_PREEMPTED_BEHIND  4

struct bench_preempted {
	bool started;
	simtime asked_ns;        /* end of the round before */
	simtime read_ns;         /* the run's clock at the last reading of both */
	uint64_t cpu_ns;         /* the processor time at that reading */
	simtime returned_ns;     /* the end of the last absence */
	simtime behind_until_ns; /* at the latest */
	uint64_t longest_own_ns; /* round, without the others' part, that did not begin behind */
};

/* Returns true if the round that ends at `now` may contain an absence, or the thread may be behind
 * because of one. */
static inline bool bench_preempted_is_unsure(const struct bench_preempted *preempted, simtime now)
{
	return !preempted->started || now - preempted->asked_ns > BENCH_PREEMPTED_LONG_NS ||
	       now - preempted->read_ns > BENCH_PREEMPTED_EACH_NS ||
	       preempted->asked_ns < preempted->behind_until_ns;
}

/* Ends a round in which nothing was unsure. */
static inline void bench_preempted_round(struct bench_preempted *preempted, simtime now)
{
	if (now - preempted->asked_ns > preempted->longest_own_ns)
		__atomic_store_n(&preempted->longest_own_ns, now - preempted->asked_ns,
		                 __ATOMIC_RELAXED);
	preempted->asked_ns = now;
}

/* Ends a round at which the thread has had `cpu_ns` of processor time in all. Returns for how long
 * since the last reading others had the processor, or the thread was behind because of them. */
uint64_t bench_preempted_read(struct bench_preempted *preempted, simtime now, uint64_t cpu_ns);
/* Notes that the work of an absence is done. */
static inline void bench_preempted_caught_up(struct bench_preempted *preempted)
{
	preempted->behind_until_ns = 0;
}

/* Returns the processor time of the calling thread. */
uint64_t bench_preempted_cpu(void);

/* Ends a round, with a reading of both clocks if one is needed. Returns what bench_preempted_read
 * returns, or 0. */
static inline uint64_t bench_preempted_ask(struct bench_preempted *preempted, simtime now)
{
	if (__builtin_expect(bench_preempted_is_unsure(preempted, now), 0))
		return bench_preempted_read(preempted, now, bench_preempted_cpu());
	bench_preempted_round(preempted, now);
	return 0;
}

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
	uint64_t missed_preempted;  /* of `missed` */
	uint64_t excused;           /* of the waiting ones: came by others' fault */
	struct bench_preempted preempted;
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

/* For a paced source: `left` packets are in the ring, and `arrived` packets come, `preempted` of
 * these by others' fault. Packets for which the ring has no room are lost. Returns how many remain.
 *  */
uint64_t bench_source_arrive(struct bench_source *source, uint64_t left, uint64_t arrived,
                             uint64_t preempted);

/* Adds the callback to a port. Returns 0 or -errno. */
int bench_source_attach(struct bench_source *source, uint16_t port);
/* Removes the callback. To be called while the worker stands still. */
void bench_source_detach(struct bench_source *source);

/*
 * The sink of a precision measurement: a transmit callback on an ethdev port. It reads the time
 * stamp counter when weir hands a burst to the device, and compares it with the due time of each
 * packet. It is independent of weir's own figure (tx_queue.h), and it would detect a packet that is
 * early.
 *
 *   lateness  hand-over minus the due time that weir gave the packet (its instant of arrival, as
 *             weir stamped it, plus the delay)
 *   through   hand-over minus the instant at which the source made the frame, minus the delay: what
 *             a measurement from outside sees; contains the time from the device to weir's stamp
 *
 * With `own`, packets that others made late do not count: packets that came due
 * while others had the processor, and late ones while the worker is behind. Then the delay may
 * change, and `through` is not measured.
 */

struct bench_sink {
	const struct clock *clock;
	uint64_t delay_ns; /* of the scenario */
	uint32_t stamp_at; /* bench_stamp_at() */
	bool own;
	struct bench_preempted preempted;
	simtime from_ns; /* packets due before do not count */
	uint64_t early;  /* packets handed over before their due time */
	uint64_t most_early_ns;
	struct histogram lateness_ns, through_ns;
	uint16_t port;
	const struct rte_eth_rxtx_callback *callback;
};

/* For `own`: returns true if others have no part in the lateness of a packet. */
bool bench_sink_is_own(const struct bench_sink *sink, simtime handed, simtime due);
/* Adds the callback. Returns 0 or -errno. */
int bench_sink_attach(struct bench_sink *sink, uint16_t port);
/* Removes the callback. To be called while the worker stands still. */
void bench_sink_detach(struct bench_sink *sink);

#endif
