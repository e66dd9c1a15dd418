/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pcapng_block.h"

void pcapng_end(struct pcapng_block *block, struct block_writer *to)
{
	uint32_t length;

	pcapng_add_u32(block, 0); /* the end of the options */
	length = block->used + (uint32_t)sizeof(length);
	pcapng_add_u32(block, length);
	memcpy(block->bytes + 4, &length, sizeof(length));
	block_writer_put(to, block->bytes, block->used);
}

void pcapng_begin_section(struct pcapng_block *block)
{
	static const uint16_t version[] = {1, 0};
	static const uint64_t unspecified = UINT64_MAX;

	pcapng_begin(block, PCAPNG_SECTION);
	pcapng_add_u32(block, PCAPNG_BYTE_ORDER_MARK);
	pcapng_add(block, version, sizeof(version));
	pcapng_add(block, &unspecified, sizeof(unspecified));
}

void pcapng_put_interface(struct block_writer *to, const char *name, const char *description,
                          uint32_t snap)
{
	static const uint16_t link[] = {PCAPNG_LINK_ETHERNET, 0};
	static const uint8_t unit = PCAPNG_UNIT_NANOSECONDS;
	struct pcapng_block block;

	pcapng_begin(&block, PCAPNG_INTERFACE);
	pcapng_add(&block, link, sizeof(link));
	pcapng_add_u32(&block, snap);
	pcapng_add_text(&block, PCAPNG_OPTION_NAME, name);
	pcapng_add_text(&block, PCAPNG_OPTION_DESCRIPTION, description);
	pcapng_add_option(&block, PCAPNG_OPTION_TIME_UNIT, &unit, sizeof(unit));
	pcapng_end(&block, to);
}

uint32_t pcapng_put_packet(struct block_writer *to, const struct pcapng_packet *packet,
                           struct pcapng_block *options)
{
	static const uint8_t zeros[4];
	const uint32_t padding = pcapng_padding(packet->bytes);
	uint32_t length;

	if (options->used > 0)
		pcapng_add_u32(options, 0); /* the end of the options */
	length = PCAPNG_PACKET_HEAD_BYTES + packet->bytes + padding + options->used + 4;
	block_writer_put(to,
	                 (const uint32_t[]){PCAPNG_PACKET, length, packet->interface,
	                                    (uint32_t)(packet->t_ns >> 32), (uint32_t)packet->t_ns,
	                                    packet->bytes, packet->wire_bytes},
	                 PCAPNG_PACKET_HEAD_BYTES);
	block_writer_put(to, packet->data, packet->bytes);
	block_writer_put(to, zeros, padding);
	pcapng_add_u32(options, length);
	block_writer_put(to, options->bytes, options->used);
	return length;
}
