/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a capture of several interfaces: a pcapng as in
 * https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html, with one section, in this
 * machine's byte order, with frames of Ethernet and times in nanoseconds. Each frame has its
 * interface and its direction there. At the end, the file states for each interface how many frames
 * there were and how many of them are missing. For readers that take only one interface, see pcap
 * (dump.h).
 *
 * The file appears under its name when it is complete (atomic_file.h).
 *
 * Ownership: pcapng_publish, pcapng_keep and pcapng_discard free the pcapng; one of them ends every
 * pcapng.
 * Thread: one at a time.
 */
#ifndef WEIR_PCAPNG_H
#define WEIR_PCAPNG_H

#include <stdint.h>
#include <string.h>

#include "capture/block_file.h"
#include "scenario/problem.h"
#include "simtime.h"

/*
 * Blocks of pcapng as in https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html, in this
 * machine's byte order: their numbers, and functions that build them. A block is built in memory,
 * except for the frame of a packet, which is written directly.
 *
 * Thread: any.
 */

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

struct pcapng;

/* Direction, as in epb_flags: as seen by the host to which the interface belongs. */
enum pcapng_way { PCAPNG_NO_WAY, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

struct pcapng_interface {
	const char *name, *description;
	uint32_t snap; /* the most bytes of a frame in the file; 0: all */
};

struct pcapng_frame {
	uint32_t interface;
	simtime t_ns; /* since 1970 */
	const void *data;
	uint32_t bytes, wire_bytes; /* in memory, and on the wire */
	enum pcapng_way way;
	uint64_t packet;     /* the same at each interface that the packet passes; 0: none */
	uint64_t lost;       /* frames lost at this interface since its previous frame */
	const char *comment; /* or NULL */
};

/* Opens a pcapng. `comment` is that of the section, "" for none. Returns 0; -EINVAL with problem if
 * the file cannot be created; or -ENOMEM with problem. */
int pcapng_open(const char *path, const char *comment, const struct pcapng_interface *interfaces,
                uint32_t n, struct pcapng **pcapng, struct problem *problem);
/* Adds an interface, before its first frame. Returns its number, or -ENOMEM. */
int pcapng_interface_add(struct pcapng *pcapng, const struct pcapng_interface *interface);
/* Adds a frame. Errors are kept until the end. */
void pcapng_write(struct pcapng *pcapng, const struct pcapng_frame *frame);
/* Writes all that was added to the file or the pipe. Returns 0, or an error with problem, as
 * atomic_file_error does. */
int pcapng_flush(struct pcapng *pcapng, struct problem *problem);
/* Completes the file. `missing[i]` is the number of frames of interface i that are not in it.
 * Returns 0, or an error with problem, as atomic_file_error does. */
int pcapng_finish(struct pcapng *pcapng, const uint64_t *missing, struct problem *problem);
int pcapng_publish(struct pcapng *pcapng, struct problem *problem);
/* Publishes the file as it is, whatever failed before; its last block may be cut. Returns as
 * atomic_file_keep does. */
int pcapng_keep(struct pcapng *pcapng, struct problem *problem);
void pcapng_discard(struct pcapng *pcapng); /* NULL is allowed */

#endif
