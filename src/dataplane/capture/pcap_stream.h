/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a block reader as the stdio stream from which libpcap reads a capture. The stream
 * buffers nothing, so libpcap and others can take bytes in turns.
 *
 * A capture other than a pcapng passes as it is. libpcap refuses a pcapng whose interfaces differ
 * in link type or snapshot length, and compares the link type of the first interface, translated to
 * a DLT, with those of the others as they are in the file. So on their way
 *
 *   - every interface gets the greatest snapshot length, CAPTURE_FRAME_MAX, which is no limit;
 *   - LINKTYPE_RAW (101) becomes DLT_RAW, which libpcap takes for either. No other link type that
 *     weir knows differs from its DLT;
 *   - a simple packet block gets the length of what it contains. It has no captured length of its
 *     own: that is the snapshot length of the first interface, if the packet is longer.
 *
 * Ownership: the block reader is the caller's, and must exist until the stream is closed.
 * Thread: one at a time.
 */
#ifndef WEIR_PCAP_STREAM_H
#define WEIR_PCAP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/block_reader.h"

struct pcap_stream {
	struct block_reader *from;
	size_t left; /* bytes until the next block of a pcapng; SIZE_MAX: there is none */
	bool begun, swapped;
	bool described; /* this section has an interface */
	uint32_t snap;  /* snapshot length of its first interface; 0: no limit */
	/* Bytes on the wire of the latest packet, if it came in a simple packet block; else 0. */
	uint32_t wire_bytes;
};

/* Returns the stream, or NULL if there is no memory. It must be closed before the block reader. */
FILE *pcap_stream_open(struct pcap_stream *pcap_stream, struct block_reader *from);

#endif
