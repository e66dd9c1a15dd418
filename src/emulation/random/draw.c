/* SPDX-License-Identifier: BSD-3-Clause */
#include "random/draw.h"

#include <string.h>

/* Hashes the bytes of a name by FNV-1a, its final 0 included, so that ("ab", "c") and ("a", "bc")
 * differ. */
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

/* Blocks that are computed together, and the draws in them. */
#define GROUP_BLOCKS 16u
#define GROUP_DRAWS  (2 * GROUP_BLOCKS)

/* Computes philox_block. Each word lies in 64 bits, so that both halves of a product are where they
 * are needed: the compiler vectorises a loop of these without moving data between lanes. */
static inline __attribute__((always_inline)) void block(uint32_t k0, uint32_t k1, uint64_t counter,
                                                        uint32_t lane, uint64_t out[2])
{
	uint64_t c0 = (uint32_t)counter, c1 = counter >> 32, c2 = lane, c3 = 0;

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = c0 * 0xD2511F53u;
		uint64_t p1 = c2 * 0xCD9E8D57u;

		c0 = p1 >> 32 ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = p0 >> 32 ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c1 << 32 | c0;
	out[1] = c3 << 32 | c2;
}

/* Computes consecutive blocks. */
static __attribute__((noinline)) void draw_group(struct draw_key key, uint64_t counter,
                                                 uint32_t lane, uint64_t *restrict out)
{
	for (uint32_t i = 0; i < GROUP_BLOCKS; i++)
		block(key.word[0], key.word[1], counter + i, lane, &out[2 * i]);
}

void draw_places(const struct draw_place *place, uint32_t lane, uint32_t n, uint64_t *out)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t both[2];

		block(place[i].key.word[0], place[i].key.word[1], place[i].index >> 1, lane, both);
		out[i] = place[i].index & 1 ? both[1] : both[0];
	}
}

/* A group that is only partly used is computed whole all the same: it costs as much as three single
 * draws. */
void draw_burst(struct draw_key key, uint64_t first, uint32_t lane, uint32_t n, uint64_t *out)
{
	uint64_t group[GROUP_DRAWS];

	if ((first & 1) && n >= GROUP_DRAWS - 1) {
		draw_group(key, first >> 1, lane, group);
		memcpy(out, &group[1], sizeof(group) - sizeof(group[0]));
		first += GROUP_DRAWS - 1;
		out += GROUP_DRAWS - 1;
		n -= GROUP_DRAWS - 1;
	}
	for (; n >= GROUP_DRAWS; n -= GROUP_DRAWS) {
		draw_group(key, first >> 1, lane, out);
		first += GROUP_DRAWS;
		out += GROUP_DRAWS;
	}
	if (n == 1) {
		*out = draw_u64(key, first, lane);
	} else if (n > 0) {
		draw_group(key, first >> 1, lane, group);
		memcpy(out, &group[first & 1], n * sizeof(*out));
	}
}
