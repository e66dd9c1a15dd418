/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/fate_frame.h"

#include <string.h>

#include <rte_common.h>
#include <rte_mbuf.h>

uint32_t fate_frame_bytes(const struct fate_frame *frame, uint32_t most)
{
	uint64_t bytes = frame->bytes;

	for (const struct rte_mbuf *more = frame->more; more && bytes < most; more = more->next)
		bytes += more->data_len;
	return (uint32_t)RTE_MIN(bytes, (uint64_t)most);
}

void fate_frame_copy(uint8_t *to, const struct fate_frame *frame, uint32_t bytes)
{
	uint32_t done = RTE_MIN(frame->bytes, bytes);

	/* If nothing is known of the frame, `data` is not valid. */
	if (done > 0)
		memcpy(to, frame->data, done);
	for (const struct rte_mbuf *more = frame->more; more && done < bytes; more = more->next) {
		uint32_t part = RTE_MIN((uint32_t)more->data_len, bytes - done);

		memcpy(to + done, rte_pktmbuf_mtod(more, const uint8_t *), part);
		done += part;
	}
}
