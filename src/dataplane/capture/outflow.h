/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes on their way into a file: gathered in blocks, each written while the next is filled
 * (porter.h). Into a pipe or a device who fills a block writes it.
 *
 * Ownership: the descriptor stays the caller's, and must not be closed before outflow_close.
 * Thread: one at a time.
 */
#ifndef WEIR_OUTFLOW_H
#define WEIR_OUTFLOW_H

#include <stdint.h>

#include <rte_branch_prediction.h>

#include "capture/frame_copy.h"
#include "capture/porter.h"

struct outflow {
	uint8_t *at, *end; /* room in the present block */
	size_t block_bytes;
	struct porter *porter; /* NULL: who fills writes */
	struct errand errands[2];
	uint32_t present;
	int error; /* the first errno; from there on nothing is written */
	uint8_t *memory;
};

/* 0, or -ENOMEM. `porter`: for regular files only. */
int outflow_open(struct outflow *outflow, int fd, struct porter *porter);
/* All that was put is written when this returns: 0, or the first errno there was. */
int outflow_flush(struct outflow *outflow);
/* What was not flushed may be written or not. May be called twice, and of one that is all zero. */
void outflow_close(struct outflow *outflow);

/* For what does not fit into the present block. */
void outflow_put_across(struct outflow *outflow, const void *data, uint32_t bytes);

/* Errors stay until they are asked for: `error`, or outflow_flush. */
static inline void outflow_put(struct outflow *outflow, const void *data, uint32_t bytes)
{
	if (unlikely((size_t)(outflow->end - outflow->at) < bytes)) {
		outflow_put_across(outflow, data, bytes);
		return;
	}
	frame_copy(outflow->at, data, bytes);
	outflow->at += bytes;
}

#endif
