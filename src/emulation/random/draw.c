/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw.h"

/* FNV-1a over the bytes of a name, its end included, so that ("ab", "c") and ("a", "bc") differ. */
static uint64_t mix_name(uint64_t hash, const char *name)
{
	const unsigned char *byte = (const unsigned char *)name;

	do {
		hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
	} while (*byte++);
	return hash;
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit depends on every bit. */
static uint64_t mix_final(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

struct draw_key draw_key_make(uint64_t seed, const char *cloud, const char *purpose)
{
	uint64_t hash = mix_final(seed + UINT64_C(0x9e3779b97f4a7c15));

	hash = mix_name(hash, cloud);
	hash = mix_name(hash, purpose);
	hash = mix_final(hash);
	return (struct draw_key){{(uint32_t)hash, (uint32_t)(hash >> 32)}};
}

/* A pair of draws a block. The loop has no dependence from one round to the next, and the compiler
 * makes vector instructions of it: several blocks side by side. */
static void draw_pairs(struct draw_key key, uint64_t counter, uint32_t lane, uint32_t pairs,
                       uint64_t *restrict out)
{
	for (uint32_t i = 0; i < pairs; i++) {
		uint32_t w[4];

		philox_block(key, counter + i, lane, w);
		out[2 * i] = (uint64_t)w[1] << 32 | w[0];
		out[2 * i + 1] = (uint64_t)w[3] << 32 | w[2];
	}
}

void draw_burst(struct draw_key key, uint64_t first, uint32_t lane, uint32_t n, uint64_t *out)
{
	uint32_t done = 0;

	if (n == 0)
		return;
	if (first & 1)
		out[done++] = draw_u64(key, first, lane);
	draw_pairs(key, (first + done) >> 1, lane, (n - done) / 2, &out[done]);
	if ((n - done) % 2)
		out[n - 1] = draw_u64(key, first + n - 1, lane);
}
