/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of the frame in a fate (account/witness.h) as one piece: its first segment, then its
 * further segments.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FATE_FRAME_H
#define WEIR_FATE_FRAME_H

#include "account/witness.h"

/* Returns the length of the frame, `most` at most. */
uint32_t fate_frame_bytes(const struct fate_frame *frame, uint32_t most);
/* Copies the first `bytes` of the frame. `bytes` is at most what fate_frame_bytes returns. */
void fate_frame_copy(uint8_t *to, const struct fate_frame *frame, uint32_t bytes);

#endif
