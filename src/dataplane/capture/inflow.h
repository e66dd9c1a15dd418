/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as a stream of bytes that can be looked at where they lie: read in blocks, the next one while
 * the present one is used (porter.h). A pipe is read by who asks, no further than there is something.
 *
 * Ownership: the inflow owns the descriptor and the bytes, which stay until the next inflow_reach or
 * read from the stream.
 * Thread: one at a time.
 */
#ifndef WEIR_INFLOW_H
#define WEIR_INFLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_branch_prediction.h>

#include "capture/porter.h"
#include "packet/packet.h"

/* The most that can be looked at in one piece. */
#define INFLOW_REACH_MAX (PACKET_BYTES_MAX + 64u)

struct inflow {
	const uint8_t *at, *end; /* what was read and not yet taken */
	struct porter *porter;   /* NULL: who looks reads */
	struct errand errands[2];
	uint32_t present; /* the block that is looked at; the other is on its way */
	int error;        /* errno of a read that failed; what came before is still there */
	bool ended;
	uint8_t *memory;
};

/* 0, or -ENOMEM; then the descriptor is closed, too. `porter`: for regular files only. */
int inflow_open(struct inflow *inflow, int fd, struct porter *porter);
void inflow_close(struct inflow *inflow);

/* Reads until `bytes` can be looked at; false: the file ends before, or cannot be read. */
bool inflow_reach(struct inflow *inflow, uint32_t bytes);

/* Whether `bytes` can be looked at in one piece; at most INFLOW_REACH_MAX. */
static inline bool inflow_has(struct inflow *inflow, uint32_t bytes)
{
	return likely((size_t)(inflow->end - inflow->at) >= bytes) || inflow_reach(inflow, bytes);
}

/* The same bytes as a stream, for who wants one; it keeps none to itself, so both can be used in turns.
 * To be closed before the inflow. NULL: no memory. */
FILE *inflow_stream(struct inflow *inflow);

#endif
