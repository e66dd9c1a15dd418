/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture that is being read; for capture_open.c and capture.c. */
#ifndef WEIR_CAPTURE_INSIDE_H
#define WEIR_CAPTURE_INSIDE_H

#include <stdio.h>

#include <pcap/pcap.h>

#include "capture/block_file.h"
#include "capture/capture.h"
#include "capture/frame_order.h"
#include "capture/unpack.h"
#include "capture/records.h"

struct capture {
	struct unpack *unpack; /* NULL: the file is not compressed */
	struct block_reader block_reader;
	struct records records;
	struct frame_order order;
	uint32_t depth; /* so many frames are in the order's window */
	char *interface;
	/* A format that only libpcap knows; or NULL: */
	pcap_t *pcap;
	FILE *stream; /* closed by pcap_close */
	struct stat stat;
	struct capture_counts counts;
	struct link_layer *link_layer; /* the caller's; NULL: Ethernet */
	uint8_t *frame;                /* the latest frame as Ethernet, if it is of another link */
	uint64_t done_bytes;
	bool ended;
	char damage[200], refused[300];
};

/* Fills the window of the order, as far as the file goes. */
void capture_fill(struct capture *capture);

/* Writes a stamp as a date. Returns the text. */
#define CAPTURE_DATE_BYTES 40

#endif
