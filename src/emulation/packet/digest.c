/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/digest.h"

/* Words may span two segments. */
uint32_t digest_crc_chain(uint32_t crc, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	uint8_t words[512];
	uint32_t at = 0, kept = 0, of_segment = 0;

	while (mbuf && at < bytes) {
		uint32_t part = RTE_MIN(mbuf->data_len - of_segment, bytes - at);

		part = RTE_MIN(part, (uint32_t)sizeof(words) - kept);
		memcpy(words + kept, rte_pktmbuf_mtod_offset(mbuf, uint8_t *, of_segment), part);
		kept += part;
		at += part;
		of_segment += part;
		if (kept == sizeof(words)) {
			crc = digest_crc_bytes(crc, words, kept);
			kept = 0;
		}
		if (of_segment == mbuf->data_len) {
			mbuf = mbuf->next;
			of_segment = 0;
		}
	}
	return digest_crc_bytes(crc, words, kept);
}
