/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of pcapng, as https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html says, in
 * this machine's byte order: their numbers, and how one is put together. A block is built in
 * memory, but for a packet's frame, which goes straight to where the blocks go.
 *
 * Thread: any.
 */
#ifndef WEIR_PCAPNG_BLOCK_H
#define WEIR_PCAPNG_BLOCK_H

#include <stdint.h>
#include <string.h>

#include "capture/block_writer.h"
#include "simtime.h"

#define PCAPNG_SECTION          0x0a0d0d0a
#define PCAPNG_BYTE_ORDER_MARK  0x1a2b3c4d
#define PCAPNG_INTERFACE        1
#define PCAPNG_STATISTICS       5
#define PCAPNG_PACKET           6
#define PCAPNG_LINK_ETHERNET    1
#define PCAPNG_UNIT_NANOSECONDS 9

/* Options; a number has another meaning in each block. */
#define PCAPNG_OPTION_COMMENT     1
#define PCAPNG_OPTION_APPLICATION 4
#define PCAPNG_OPTION_NAME        2
#define PCAPNG_OPTION_DESCRIPTION 3
#define PCAPNG_OPTION_TIME_UNIT   9
#define PCAPNG_OPTION_FLAGS       2
#define PCAPNG_OPTION_LOST        4
#define PCAPNG_OPTION_PACKET      5
#define PCAPNG_OPTION_QUEUE       6
#define PCAPNG_OPTION_RECEIVED    4
#define PCAPNG_OPTION_DROPPED     5

#define PCAPNG_PACKET_HEAD_BYTES 28 /* ahead of a frame */
#define PCAPNG_BLOCK_LEAST       12

#define PCAPNG_BLOCK_MAX 2048 /* but for a frame */
#define PCAPNG_TEXT_MAX  640

/* One that is being put together; of a packet, its options. `used` is 0 at the beginning. */
struct pcapng_block {
	uint32_t used;
	uint8_t bytes[PCAPNG_BLOCK_MAX];
};

static inline uint32_t pcapng_padding(uint32_t bytes)
{
	return -bytes & 3;
}

static inline void pcapng_add(struct pcapng_block *block, const void *data, uint32_t bytes)
{
	memcpy(block->bytes + block->used, data, bytes);
	memset(block->bytes + block->used + bytes, 0, pcapng_padding(bytes));
	block->used += bytes + pcapng_padding(bytes);
}

static inline void pcapng_add_u32(struct pcapng_block *block, uint32_t value)
{
	pcapng_add(block, &value, sizeof(value));
}

static inline void pcapng_add_time(struct pcapng_block *block, simtime t_ns)
{
	pcapng_add_u32(block, (uint32_t)(t_ns >> 32));
	pcapng_add_u32(block, (uint32_t)t_ns);
}

static inline void pcapng_begin(struct pcapng_block *block, uint32_t type)
{
	block->used = 0;
	pcapng_add_u32(block, type);
	pcapng_add_u32(block, 0); /* the length comes at the end */
}

static inline void pcapng_add_option(struct pcapng_block *block, uint16_t code, const void *data,
                                     uint32_t bytes)
{
	const uint16_t head[] = {code, (uint16_t)bytes};

	pcapng_add(block, head, sizeof(head));
	pcapng_add(block, data, bytes);
}

/* An empty text is left out. */
static inline void pcapng_add_text(struct pcapng_block *block, uint16_t code, const char *text)
{
	if (*text)
		pcapng_add_option(block, code, text, (uint32_t)strnlen(text, PCAPNG_TEXT_MAX));
}

/* The block is whole, and put there. */
void pcapng_end(struct pcapng_block *block, struct block_writer *to);

/* The first block of all; its options are the caller's to add, and its end. */
void pcapng_begin_section(struct pcapng_block *block);
/* An interface of Ethernet, whose instants are in nanoseconds; `snap` 0: whole frames. */
void pcapng_put_interface(struct block_writer *to, const char *name, const char *description,
                          uint32_t snap);

struct pcapng_packet {
	uint32_t interface;
	simtime t_ns;
	const void *data;
	uint32_t bytes, wire_bytes;
};

/* With its options, which are complete but for their end. Returns how many bytes the block has. */
uint32_t pcapng_put_packet(struct block_writer *to, const struct pcapng_packet *packet,
                           struct pcapng_block *options);

#endif
