/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP segment or a UDP datagram, read from its frame.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SEGMENT_H
#define WEIR_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "account/witness.h"
#include "explain/flow.h"

#define SEGMENT_SCALE_UNKNOWN 0xff

struct segment {
	uint8_t protocol;
	struct flow_end from, to;
	uint16_t marks; /* those of TCP's flags */
	uint32_t sequence, ack;
	uint16_t window;
	uint8_t scale; /* of the window, as a SYN says; SEGMENT_SCALE_UNKNOWN: it says nothing */
	bool acknowledges;
	const uint8_t *data;  /* the payload */
	uint32_t here, bytes; /* there, and in all */
};

/* Returns false if the frame is none, or only a later fragment. */
bool segment_read(const struct fate_frame *frame, uint32_t wire_bytes, struct segment *segment);
/* Returns true if the segment is of a server: by its flags, or by its ports. */
bool segment_is_answer(const struct segment *segment);
/* Returns what is known of the passage of a packet that has just come. */
struct passage segment_passage(const struct segment *segment, const struct fate *fate);
/* Keeps the scale of a SYN, and applies it to the window of a later segment. `scale`: of its way,
 * one more than what the SYN said; 0: not known. */
void segment_scale(const struct segment *segment, uint8_t *scale, uint32_t *window);

#endif
