/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pcap_stream.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

#include <pcap/dlt.h>

#include "capture/capture.h"
#include "capture/pcapng_block.h"

#define LINKTYPE_RAW 101

/* Offsets in an interface block and in a simple packet block. */
#define LINK_AT       8
#define SNAP_AT       12
#define SNAP_END      16
#define WIRE_BYTES_AT 8

static uint32_t word(const struct pcap_stream *pcap_stream, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return pcap_stream->swapped ? __builtin_bswap32(value) : value;
}

static void put_word(const struct pcap_stream *pcap_stream, uint8_t *at, uint32_t value)
{
	if (pcap_stream->swapped)
		value = __builtin_bswap32(value);
	memcpy(at, &value, sizeof(value));
}

static void mend_interface(struct pcap_stream *pcap_stream, uint8_t *block)
{
	const uint16_t swapped = pcap_stream->swapped ? 8 : 0;
	uint16_t link = (uint16_t)(LINKTYPE_RAW << swapped);

	if (!pcap_stream->described)
		pcap_stream->snap = word(pcap_stream, block + SNAP_AT);
	pcap_stream->described = true;
	put_word(pcap_stream, block + SNAP_AT, CAPTURE_FRAME_MAX);
	if (memcmp(block + LINK_AT, &link, sizeof(link)) != 0)
		return;
	link = (uint16_t)(DLT_RAW << swapped);
	memcpy(block + LINK_AT, &link, sizeof(link));
}

static void mend_simple_packet(struct pcap_stream *pcap_stream, uint8_t *block)
{
	pcap_stream->wire_bytes = word(pcap_stream, block + WIRE_BYTES_AT);
	if (pcap_stream->snap > 0 && pcap_stream->wire_bytes > pcap_stream->snap)
		put_word(pcap_stream, block + WIRE_BYTES_AT, pcap_stream->snap);
}

/* Mends the block that begins here, and finds its end. Blocks that cannot be right are left to
 * libpcap, which reads no further. */
static void begin_block(struct pcap_stream *pcap_stream)
{
	struct block_reader *from = pcap_stream->from;
	uint32_t type, order;

	pcap_stream->left = SIZE_MAX;
	if (!block_reader_has(from, PCAPNG_BLOCK_LEAST))
		return;
	memcpy(&type, from->at, sizeof(type));
	if (type == PCAPNG_SECTION) {
		memcpy(&order, from->at + 8, sizeof(order));
		pcap_stream->swapped = order == __builtin_bswap32(PCAPNG_BYTE_ORDER_MARK);
		pcap_stream->begun = true;
		pcap_stream->described = false;
		pcap_stream->snap = 0;
	}
	if (!pcap_stream->begun)
		return;
	type = word(pcap_stream, from->at);
	if (type == PCAPNG_INTERFACE && block_reader_has(from, SNAP_END))
		mend_interface(pcap_stream, from->at);
	else if (type == PCAPNG_SIMPLE_PACKET)
		mend_simple_packet(pcap_stream, from->at);
	else if (type == PCAPNG_PACKET || type == PCAPNG_OLD_PACKET)
		pcap_stream->wire_bytes = 0;
	if (word(pcap_stream, from->at + 4) >= PCAPNG_BLOCK_LEAST)
		pcap_stream->left = word(pcap_stream, from->at + 4);
}

static ssize_t stream_read(void *argument, char *to, size_t bytes)
{
	struct pcap_stream *pcap_stream = argument;
	struct block_reader *from = pcap_stream->from;
	size_t has;

	if (pcap_stream->left == 0)
		begin_block(pcap_stream);
	if (!block_reader_has(from, 1)) {
		if (!from->error)
			return 0;
		errno = from->error;
		return -1;
	}
	has = RTE_MIN((size_t)(from->end - from->at), pcap_stream->left);
	if (bytes > has)
		bytes = has;
	memcpy(to, from->at, bytes);
	from->at += bytes;
	pcap_stream->left -= bytes;
	return (ssize_t)bytes;
}

FILE *pcap_stream_open(struct pcap_stream *pcap_stream, struct block_reader *from)
{
	FILE *stream;

	*pcap_stream = (struct pcap_stream){.from = from};
	stream = fopencookie(pcap_stream, "r", (cookie_io_functions_t){.read = stream_read});
	if (!stream)
		return NULL;
	setvbuf(stream, NULL, _IONBF, 0);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
	return stream;
}
