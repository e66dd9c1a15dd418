/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host decides about its congestion window: whether a quenched segment is in flight, whether
 * a cut is due, and how the window grows or is halved. Sequence numbers are those of TCP: 32 bits,
 * and they wrap around.
 *
 * One cut a window (F. Akujobi et al., and RFC 3168 6.1.2 for echoes): after a cut, everything that
 * is outstanding has to be acknowledged before the next cut. `recover` is the first sequence number
 * not yet sent at the cut, so the next cut is due when `una`, the first one not acknowledged, has
 * reached it: one round trip later.
 *
 * Limited slow-start (RFC 3742; extended by Nakauchi and Kobayashi, section 5.4): up to `most`
 * segments the window grows as usual; beyond them, each acknowledged segment adds 1/K, K =
 * int(window / (most / 2)). From the routers' figures: most = queue / 2, and slow start ends at 3/4
 * * available * (RTT / 2) / MSS. 800 Mbit/s, 200 ms and 1460 bytes give 5137 segments, the paper's
 * "5000".
 *
 * Plain C, for the kernel and for user space, without floating point or state; tested by
 * tests/unit/test_window.c.
 */
#ifndef WEIR_LINUX_WINDOW_H
#define WEIR_LINUX_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_LEAST 2u /* segments, after a cut */

static inline bool sequence_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* `next` is the first sequence number not sent yet. */
static inline bool window_in_flight(uint32_t una, uint32_t next, uint32_t sequence)
{
	return !sequence_before(sequence, una) && sequence_before(sequence, next);
}

static inline bool window_cut_due(uint32_t una, uint32_t recover)
{
	return !sequence_before(una, recover);
}

/* For cuts by an echo: the receiver repeats the echo until it receives CWR, which the first segment
 * after the cut carries. So that segment must be acknowledged, too. */
static inline bool window_echo_due(uint32_t una, uint32_t recover)
{
	return sequence_before(recover, una);
}

static inline uint32_t window_half(uint32_t segments)
{
	return segments / 2 > WINDOW_LEAST ? segments / 2 : WINDOW_LEAST;
}

/* Returns K: how many segments must be acknowledged for the window to grow by one. `most` is at
 * least 1. */
static inline uint32_t window_slow_start_k(uint32_t segments, uint32_t most)
{
	uint64_t k = (uint64_t)segments * 2 / most;

	if (segments <= most)
		return 1;
	return k > UINT32_MAX ? UINT32_MAX : (uint32_t)k;
}

/* Returns where slow start ends, in segments, rounded to the nearest; at least WINDOW_LEAST.
 * mss_bytes is at least 1. */
static inline uint32_t window_slow_start_end(uint32_t available_kbps, uint32_t rtt_us,
                                             uint32_t mss_bytes)
{
	/* kbps * 125 bytes/s * us / 10^6 * 3/8, and 375 / 8 000 000 is 3 / 64 000. Below 2^62. */
	uint64_t unit = UINT64_C(64000) * mss_bytes;
	uint64_t segments =
	        ((uint64_t)available_kbps * (rtt_us & 0x0fffffff) * 3 + unit / 2) / unit;

	if (segments < WINDOW_LEAST)
		return WINDOW_LEAST;
	return segments > INT32_MAX ? INT32_MAX : (uint32_t)segments;
}

#endif
