/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digests by which a run and its repetition are compared. The digest of a departure is a function
 * of its instant, its length on the wire and its bytes, however these lie in mbufs, on every
 * processor of this byte order. They find errors, not forgers.
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

/* A frame in several segments. */
uint64_t digest_chain(uint64_t digest, const struct rte_mbuf *mbuf, uint32_t bytes);

/* Of a packet that leaves, by its first `most` bytes. */
static inline uint32_t digest_departure(const struct rte_mbuf *mbuf, simtime due_ns,
                                        uint32_t wire_bytes, uint32_t most)
{
	uint64_t digest = digest_add(due_ns, wire_bytes);
	uint32_t bytes = RTE_MIN(mbuf->pkt_len, most);

	if (likely(mbuf->nb_segs == 1))
		digest = digest_bytes(digest, rte_pktmbuf_mtod(mbuf, const uint8_t *), bytes);
	else
		digest = digest_chain(digest, mbuf, bytes);
	return digest_fold(digest);
}

static inline uint32_t digest_name(const char *name)
{
	return digest_fold(digest_bytes(0, (const uint8_t *)name, (uint32_t)strlen(name)));
}

#endif
