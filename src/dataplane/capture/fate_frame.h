/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a frame that a fate tells of (account/witness.h), side by side: what lies in the
 * first piece, and then its further segments.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FATE_FRAME_H
#define WEIR_FATE_FRAME_H

#include "account/witness.h"

/* How many there are, `most` at most. */
uint32_t fate_frame_bytes(const struct fate_frame *frame, uint32_t most);
/* Copies so many of them, fate_frame_bytes at most. */
void fate_frame_copy(uint8_t *to, const struct fate_frame *frame, uint32_t bytes);

#endif
