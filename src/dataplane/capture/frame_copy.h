/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a frame whose length is known only at run time. Small frames are copied without a call, in
 * whole blocks. The last two blocks may overlap, so nothing outside the frame is read or written.
 */
#ifndef WEIR_FRAME_COPY_H
#define WEIR_FRAME_COPY_H

#include <stdint.h>
#include <string.h>

#define FRAME_COPY_BLOCK     64u
#define FRAME_COPY_SMALL_MAX 256u

static inline void frame_copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (bytes < FRAME_COPY_BLOCK || bytes > FRAME_COPY_SMALL_MAX) {
		memcpy(to, from, bytes);
		return;
	}
	for (uint32_t at = 0; at < bytes - FRAME_COPY_BLOCK; at += FRAME_COPY_BLOCK)
		memcpy(to + at, from + at, FRAME_COPY_BLOCK);
	memcpy(to + bytes - FRAME_COPY_BLOCK, from + bytes - FRAME_COPY_BLOCK, FRAME_COPY_BLOCK);
}

#endif
