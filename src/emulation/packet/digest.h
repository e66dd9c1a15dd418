/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digests by which a run and its repetition are compared. The digest of a departure is a function
 * of its instant, its length on the wire and its bytes, no matter how these are split into mbufs,
 * on every processor of this byte order. Digests find errors, not forgeries.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DIGEST_H
#define WEIR_DIGEST_H

#include <string.h>

#include <rte_mbuf.h>

#include "simtime.h"

#define DIGEST_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t digest_add(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * DIGEST_FACTOR;
	return digest ^ digest >> 29;
}

static inline uint64_t digest_word(const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word;
}

static inline uint64_t digest_bytes(uint64_t digest, const uint8_t *data, uint32_t bytes)
{
	uint64_t last = 0;

	for (; bytes >= sizeof(last); data += sizeof(last), bytes -= sizeof(last))
		digest = digest_add(digest, digest_word(data));
	if (bytes > 0) {
		memcpy(&last, data, bytes);
		digest = digest_add(digest, last);
	}
	return digest;
}

static inline uint32_t digest_fold(uint64_t digest)
{
	return (uint32_t)(digest ^ digest >> 32);
}

/* ---- CRC-32C, for which x86-64-v2 and arm64 have an instruction ---- */

static inline uint32_t digest_crc(uint32_t crc, uint64_t word)
{
#if defined(__SSE4_2__)
	return (uint32_t)__builtin_ia32_crc32di(crc, word);
#elif defined(__ARM_FEATURE_CRC32)
	return __builtin_aarch64_crc32cx(crc, word);
#else
	for (uint32_t bit = 0; bit < 64; bit++, word >>= 1)
		crc = crc >> 1 ^ (((crc ^ (uint32_t)word) & 1) ? UINT32_C(0x82f63b78) : 0);
	return crc;
#endif
}

static inline uint32_t digest_crc_bytes(uint32_t crc, const uint8_t *data, uint32_t bytes)
{
	uint64_t last = 0;

	for (; bytes >= sizeof(last); data += sizeof(last), bytes -= (uint32_t)sizeof(last))
		crc = digest_crc(crc, digest_word(data));
	if (bytes > 0) {
		memcpy(&last, data, bytes);
		crc = digest_crc(crc, last);
	}
	return crc;
}

/* Adds a frame in several segments. */
uint32_t digest_crc_chain(uint32_t crc, const struct rte_mbuf *mbuf, uint32_t bytes);

/* Returns the digest of a packet that leaves, over its first `most` bytes. */
static inline uint32_t digest_departure(const struct rte_mbuf *mbuf, simtime due_ns,
                                        uint32_t wire_bytes, uint32_t most)
{
	const uint32_t crc = digest_crc(digest_crc(UINT32_MAX, due_ns), wire_bytes);
	const uint32_t bytes = RTE_MIN(mbuf->pkt_len, most);

	if (likely(mbuf->nb_segs == 1))
		return digest_crc_bytes(crc, rte_pktmbuf_mtod(mbuf, const uint8_t *), bytes);
	return digest_crc_chain(crc, mbuf, bytes);
}

static inline uint32_t digest_name(const char *name)
{
	return digest_fold(digest_bytes(0, (const uint8_t *)name, (uint32_t)strlen(name)));
}

#endif
