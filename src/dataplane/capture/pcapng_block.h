/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of pcapng as in https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html, in this
 * machine's byte order: their numbers, and functions that build them. A block is built in memory,
 * except for the frame of a packet, which is written directly.
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
#define PCAPNG_OLD_PACKET       2
#define PCAPNG_SIMPLE_PACKET    3
#define PCAPNG_STATISTICS       5
#define PCAPNG_PACKET           6
#define PCAPNG_LINK_ETHERNET    1
#define PCAPNG_UNIT_NANOSECONDS 9

/* Options; the meaning of a number depends on the block. */
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

#define PCAPNG_BLOCK_MAX 2048 /* without a frame */
#define PCAPNG_TEXT_MAX  640

/* A block that is being built; for a packet, only its options. `used` is 0 at the beginning. */
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
	pcapng_add_u32(block, 0); /* pcapng_end sets the length */
}

static inline void pcapng_add_option(struct pcapng_block *block, uint16_t code, const void *data,
                                     uint32_t bytes)
{
	const uint16_t head[] = {code, (uint16_t)bytes};

	pcapng_add(block, head, sizeof(head));
	pcapng_add(block, data, bytes);
}

/* Adds a text, unless it is empty. */
static inline void pcapng_add_text(struct pcapng_block *block, uint16_t code, const char *text)
{
	if (*text)
		pcapng_add_option(block, code, text, (uint32_t)strnlen(text, PCAPNG_TEXT_MAX));
}

/* Completes the block and writes it. */
void pcapng_end(struct pcapng_block *block, struct block_writer *to);

/* Begins the first block of a file. The caller adds its options and ends it. */
void pcapng_begin_section(struct pcapng_block *block);
/* Writes an Ethernet interface with instants in nanoseconds; `snap` 0: whole frames. */
void pcapng_put_interface(struct block_writer *to, const char *name, const char *description,
                          uint32_t snap);

struct pcapng_packet {
	uint32_t interface;
	simtime t_ns;
	const void *data;
	uint32_t bytes, wire_bytes;
};

/* Writes a packet with its options, which are complete except for their end. Returns the length of
 * the block. */
uint32_t pcapng_put_packet(struct block_writer *to, const struct pcapng_packet *packet,
                           struct pcapng_block *options);

#endif
