/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counterpart of fate_ring.h: the process that looks at a live weir, and takes fates out of
 * memory that it has made and shares with the workers. Any word of the memory may change between
 * two reads. The reader therefore copies what it checks, so no writer can harm it.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_FATE_READER_H
#define WEIR_FATE_READER_H

#include <stdbool.h>

#include "capture/fate_layout.h"

/* Makes a memfd of `bytes` bytes and maps it at *memory. Returns the descriptor, or -errno. */
int fate_reader_make(size_t bytes, void **memory);

struct fate_taken {
	struct fate fate;
	uint64_t missed; /* fates of its kind and ring that were missed before it, in all */
	simtime poll_ns;
	char names[2 * UINT8_MAX]; /* of its cloud and stage */
	struct fate_ring_state *ring;
	uint64_t after; /* position of the next fate */
};

/* Returns true and the oldest fate of a ring. Its frame is valid until fate_reader_pass. Returns
 * false if there is none, or if the ring contains no valid record; then *broken is true. */
bool fate_reader_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken);
void fate_reader_pass(const struct fate_taken *taken);
simtime fate_reader_settled(const void *memory);
/* Returns how many fates of a kind found no room so far, in all rings. */
uint64_t fate_reader_missed(void *memory, size_t bytes, enum fate_kind kind);

#endif
