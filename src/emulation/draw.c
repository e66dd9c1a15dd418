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

/* Eight blocks a round of the outer loop: the inner loops have no dependence between blocks, which
 * lets the compiler use vector multiplications. */
#define LANES 8

static void philox_blocks(struct draw_key key, uint64_t counter, uint32_t lane,
                          uint32_t out[4][LANES])
{
	uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
	uint32_t k0 = key.word[0], k1 = key.word[1];

	for (uint32_t i = 0; i < LANES; i++) {
		c0[i] = (uint32_t)(counter + i);
		c1[i] = (uint32_t)((counter + i) >> 32);
		c2[i] = lane;
		c3[i] = 0;
	}
	for (int round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < LANES; i++) {
			uint64_t p0 = (uint64_t)c0[i] * 0xD2511F53u;
			uint64_t p1 = (uint64_t)c2[i] * 0xCD9E8D57u;

			c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
			c1[i] = (uint32_t)p1;
			c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
			c3[i] = (uint32_t)p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	for (uint32_t i = 0; i < LANES; i++) {
		out[0][i] = c0[i];
		out[1][i] = c1[i];
		out[2][i] = c2[i];
		out[3][i] = c3[i];
	}
}

void draw_burst(struct draw_key key, uint64_t first, uint32_t lane, uint32_t n, uint64_t *out)
{
	uint32_t done = 0;

	if (first & 1 && n > 0)
		out[done++] = draw_u64(key, first, lane);
	while (n - done >= 8) {
		uint32_t w[4][LANES];
		uint32_t pairs = (n - done) / 2 < LANES ? (n - done) / 2 : LANES;

		philox_blocks(key, (first + done) >> 1, lane, w);
		for (uint32_t i = 0; i < pairs; i++) {
			out[done++] = (uint64_t)w[1][i] << 32 | w[0][i];
			out[done++] = (uint64_t)w[3][i] << 32 | w[2][i];
		}
	}
	for (; done < n; done++)
		out[done] = draw_u64(key, first + done, lane);
}
