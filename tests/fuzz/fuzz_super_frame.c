/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the cutting of super-frames, and joining. The input is a virtio header and a frame as the
 * kernel hands them over. Asserts: what is cut out are as many frames as were announced, none
 * longer than the header allows, with all of the payload in order; nothing beyond the frame is
 * read; and frames that are joined are the same when they are cut again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "poison_ops.h"
#include "port/super_frame.h"

#define INPUT_MAX 4096
#define MBUFS     (2 * INPUT_MAX + JOINED_FRAMES_MAX)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rte_mempool *pool;
static struct rte_mbuf *mbufs[INPUT_MAX];

static const uint8_t *flat(const struct rte_mbuf *mbuf, uint8_t *room)
{
	return rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, room);
}

/* Takes all frames. Returns how many. */
static uint16_t take_all(struct super_frame *frame)
{
	uint32_t left = super_frame_left(frame), n = 0;

	for (; frame->open; n++) {
		assert(n < left && n < INPUT_MAX);
		mbufs[n] = super_frame_take(frame, pool);
		assert(mbufs[n] != NULL);
		rte_mbuf_sanity_check(mbufs[n], 1);
	}
	assert(n == left);
	return (uint16_t)n;
}

static void check_payload(const struct super_frame *frame, uint16_t n)
{
	uint32_t at = frame->layers.payload;
	uint8_t room[INPUT_MAX];

	if (frame->part_bytes == 0) {
		assert(n == 1 && mbufs[0]->pkt_len == frame->length);
		return;
	}
	for (uint16_t i = 0; i < n; i++) {
		uint32_t payload = mbufs[i]->pkt_len - frame->layers.payload;

		assert(mbufs[i]->pkt_len > frame->layers.payload && payload <= frame->part_bytes);
		assert(at + payload <= frame->length);
		assert(memcmp(flat(mbufs[i], room) + frame->layers.payload, frame->bytes + at,
		              payload) == 0);
		at += payload;
	}
	assert(at == frame->length);
}

/* Joins the frames as far as possible, and cuts what was joined. */
static void check_joined(uint16_t n)
{
	static struct joined_frame joined;
	static uint8_t bytes[UINT16_MAX + JOINED_HEAD_MAX];
	uint8_t room[INPUT_MAX], again[INPUT_MAX];

	for (uint16_t at = 0; at < n;) {
		uint16_t k = joined_frame_make(&joined, mbufs + at, (uint16_t)(n - at), true);
		struct super_frame frame;
		uint32_t length = 0;

		assert(k > 0 && k <= n - at);
		for (uint32_t i = 1; k > 1 && i < joined.n_parts; i++) {
			assert(length + joined.parts[i].iov_len <= sizeof(bytes));
			memcpy(bytes + length, joined.parts[i].iov_base, joined.parts[i].iov_len);
			length += (uint32_t)joined.parts[i].iov_len;
		}
		assert(k == 1 || super_frame_open(&frame, &joined.header, bytes, length));
		for (uint16_t i = 0; k > 1 && i < k; i++) {
			struct rte_mbuf *mbuf = super_frame_take(&frame, pool);

			assert(mbuf != NULL && mbuf->pkt_len == mbufs[at + i]->pkt_len);
			assert(memcmp(flat(mbuf, room), flat(mbufs[at + i], again),
			              mbuf->pkt_len) == 0);
			rte_pktmbuf_free(mbuf);
		}
		at += k;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct virtio_net_hdr header;
	struct super_frame frame;
	uint8_t *bytes;
	uint16_t n;

	if (size <= sizeof(header) || size > INPUT_MAX)
		return 0;
	if (!pool)
		pool = poison_pool_make("super", MBUFS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	memcpy(&header, data, sizeof(header));
	size -= sizeof(header);
	bytes = malloc(size);
	assert(bytes != NULL);
	memcpy(bytes, data + sizeof(header), size);
	if (super_frame_open(&frame, &header, bytes, (uint32_t)size)) {
		n = take_all(&frame);
		check_payload(&frame, n);
		check_joined(n);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
	free(bytes);
	return 0;
}
