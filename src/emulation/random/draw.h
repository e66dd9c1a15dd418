/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random draws from a counter-based generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 *
 * A draw is a pure function of (key, index): it does not depend on the draws before it, on bursts,
 * on workers or on other clouds. The key is mixed from the run's seed, the cloud's name and the
 * purpose, and with `keyed flow` the packet's flow; the index is the number of the packet within
 * the stage, or within its flow. One Philox block of 128 bits serves two consecutive indices, 64
 * bits each.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DRAW_H
#define WEIR_DRAW_H

#include <stdint.h>

/* A probability as a fixed-point fraction with 63 bits: 0 is never, PROBABILITY_ONE always. */
typedef uint64_t probability_q63;
#define PROBABILITY_ONE (UINT64_C(1) << 63)
/* part/whole to the nearest 2^-63, as `0.2%` is parsed; a constant if both are. */
#define PROBABILITY_OF(part, whole)                                                                \
	((probability_q63)((((unsigned __int128)(part) << 63) + (whole) / 2) / (whole)))

struct draw_key {
	uint32_t word[2];
};

/* Mixes seed, cloud and purpose: keys of different names are unrelated. */
struct draw_key draw_key_make(uint64_t seed, const char *cloud, const char *purpose);

static inline void philox_block(struct draw_key key, uint64_t counter, uint32_t lane,
                                uint32_t out[4])
{
	uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = lane, c3 = 0;
	uint32_t k0 = key.word[0], k1 = key.word[1];

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)c0 * 0xD2511F53u;
		uint64_t p1 = (uint64_t)c2 * 0xCD9E8D57u;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

/* Returns the index-th 64-bit draw of the key; `lane` gives further independent draws for one
 * index. */
static inline uint64_t draw_u64(struct draw_key key, uint64_t index, uint32_t lane)
{
	uint32_t w[4];

	philox_block(key, index >> 1, lane, w);
	return index & 1 ? (uint64_t)w[3] << 32 | w[2] : (uint64_t)w[1] << 32 | w[0];
}

/* Computes n consecutive draws from index `first`, equal to those of draw_u64, but faster. */
void draw_burst(struct draw_key key, uint64_t first, uint32_t lane, uint32_t n, uint64_t *out);

/* Where a packet's draws come from: a key, and an index under it. */
struct draw_place {
	struct draw_key key;
	uint64_t index;
};

static inline uint64_t draw_at(struct draw_place place, uint32_t lane)
{
	return draw_u64(place.key, place.index, lane);
}

/* Does the same at n places, equal to draw_at, but faster. */
void draw_places(const struct draw_place *place, uint32_t lane, uint32_t n, uint64_t *out);

/* Returns the key that an object with this name, a hash of 64 bits, has under a key: keys of
 * different names are unrelated. */
static inline struct draw_key draw_key_within(struct draw_key key, uint64_t name)
{
	return (struct draw_key){
	        {key.word[0] ^ (uint32_t)name, key.word[1] ^ (uint32_t)(name >> 32)}};
}

static inline int draw_below(uint64_t draw, probability_q63 p)
{
	return (draw >> 1) < p;
}

/* Returns the probability of both of two independent events, to the nearest 2^-63. */
static inline probability_q63 probability_product(probability_q63 a, probability_q63 b)
{
	return (probability_q63)(((unsigned __int128)a * b + (PROBABILITY_ONE >> 1)) >> 63);
}

/* Returns 0 to n - 1, each with a probability that differs from 1/n by less than n 2^-64. */
static inline uint64_t draw_index(uint64_t draw, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)draw * n) >> 64);
}

#endif
