/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum, made right after a change without looking at what did not change:
 * RFC 1624, equation 3, HC' = ~(~HC + ~m + m').
 *
 * A sum is that of 16-bit words in one's complement: 0 only if all words are 0. A checksum that was
 * wrong stays wrong by as much: nothing is mended that came broken. A right one comes out exactly
 * as one that is computed anew.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_CHECKSUM_H
#define WEIR_CHECKSUM_H

#include <stdint.h>

/* A sum of sums, with its carries added again, in 16 bits. */
static inline uint32_t checksum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint32_t)((sum >> 16) + (sum & 0xffff));
}

/* What the sum grows by when up to 8 bytes, read as a number in network order of which the last is
 * the second byte of a word, become others. Modulo 2^64 - 1, of which 2^16 - 1 is a divisor. */
static inline uint32_t checksum_growth(uint64_t before, uint64_t after)
{
	uint64_t growth = after + ~before;

	return checksum_fold(growth + (growth < after));
}

/* The same where the last is the first byte of a word: one's complement sums turn with their bytes.
 */
static inline uint32_t checksum_growth_odd(uint64_t before, uint64_t after)
{
	uint32_t growth = checksum_growth(before, after);

	return (growth << 8 | growth >> 8) & 0xffff;
}

/* The same of one word, not folded: what checksum_grown takes. It is 0 as little as the others
 * are. */
static inline uint32_t checksum_growth_word(uint16_t before, uint16_t after)
{
	return after + 2 * 0xffffu - before;
}

/* The checksum when the sum has grown; by several growths, each of 16 bits, or by their sum. */
static inline uint16_t checksum_grown(uint16_t checksum, uint32_t growth)
{
	uint32_t sum = ((uint32_t)~checksum & 0xffff) + growth;

	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~((sum >> 16) + (sum & 0xffff));
}

/* The checksum when a word of the sum has become less by 0x100: its upper byte, a TTL say, by one.
 * The growth is the same whatever the word was, ~0x100 in one's complement. */
static inline uint16_t checksum_upper_less(uint16_t checksum)
{
	uint32_t sum = checksum + 0x100u;

	return (uint16_t)(sum + (sum >= 0xffff));
}

#endif
