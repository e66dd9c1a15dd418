/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum, updated incrementally after a change (RFC 1624, equation 3):
 *
 *   HC' = ~(~HC + ~m + m')
 *
 * A sum is the one's complement sum of 16-bit words: it is 0 only if all words are 0. A checksum
 * that was wrong remains wrong by the same amount: no error is hidden. A correct checksum is
 * updated to exactly the value that a new computation gives.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_CHECKSUM_H
#define WEIR_CHECKSUM_H

#include <stdint.h>

/* Folds a sum of sums into 16 bits, adding the carries. */
static inline uint32_t checksum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint32_t)((sum >> 16) + (sum & 0xffff));
}

/* Returns by how much the sum grows if up to 8 bytes change. These are read as a number in network
 * order, whose last byte is the second byte of a word. The growth is computed modulo 2^64 - 1, of
 * which 2^16 - 1 is a divisor. */
static inline uint32_t checksum_growth(uint64_t before, uint64_t after)
{
	uint64_t growth = after + ~before;

	return checksum_fold(growth + (growth < after));
}

/* Does the same if the last byte is the first byte of a word: if the bytes of all words are
 * swapped, so are those of their one's complement sum. */
static inline uint32_t checksum_growth_odd(uint64_t before, uint64_t after)
{
	uint32_t growth = checksum_growth(before, after);

	return (growth << 8 | growth >> 8) & 0xffff;
}

/* Does the same for one word, not folded: a possible argument of checksum_grown. It is never 0. */
static inline uint32_t checksum_growth_word(uint16_t before, uint16_t after)
{
	return after + 2 * 0xffffu - before;
}

/* Returns the checksum after the sum has grown. `growth` may be the sum of several growths, each of
 * 16 bits. */
static inline uint16_t checksum_grown(uint16_t checksum, uint32_t growth)
{
	uint32_t sum = ((uint32_t)~checksum & 0xffff) + growth;

	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~((sum >> 16) + (sum & 0xffff));
}

/* Returns the checksum after a word of the sum has decreased by 0x100: its upper byte, for example
 * a TTL, by one. The growth is the same for every word: ~0x100 in one's complement. */
static inline uint16_t checksum_upper_less(uint16_t checksum)
{
	uint32_t sum = checksum + 0x100u;

	return (uint16_t)(sum + (sum >= 0xffff));
}

#endif
