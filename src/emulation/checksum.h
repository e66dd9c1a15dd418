/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum, made right after a change without looking at what did not change:
 * RFC 1624, equation 3, HC' = ~(~HC + ~m + m').
 *
 * A sum is that of 16-bit words in one's complement: 0 only if all words are 0. A checksum that was
 * wrong stays wrong by as much: nothing is mended that came broken. A right one comes out exactly as
 * one that is computed anew.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_CHECKSUM_H
#define WEIR_CHECKSUM_H

#include <stdint.h>

/* The sum of up to 8 bytes, read as one number in network order, of which the last is the second
 * byte of a word. */
static inline uint32_t checksum_sum(uint64_t bytes)
{
	uint64_t sum = (bytes >> 32) + (bytes & 0xffffffff);

	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint32_t)((sum >> 16) + (sum & 0xffff));
}

/* The same where the last is the first byte of a word: one's complement sums turn with their bytes.
 */
static inline uint32_t checksum_sum_odd(uint64_t bytes)
{
	uint32_t sum = checksum_sum(bytes);

	return (sum << 8 | sum >> 8) & 0xffff;
}

/* The checksum when words with the sum `before` have become words with the sum `after`; both may be
 * sums of several sums that were not folded. */
static inline uint16_t checksum_changed(uint16_t checksum, uint32_t before, uint32_t after)
{
	uint32_t old = (before >> 16) + (before & 0xffff);
	uint32_t sum = ((uint32_t)~checksum & 0xffff) + after;

	old = (old >> 16) + (old & 0xffff);
	sum += ~old & 0xffff;
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~((sum >> 16) + (sum & 0xffff));
}

#endif
