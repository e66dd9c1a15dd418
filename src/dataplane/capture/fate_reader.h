/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of fate_ring.h: the process that looks at a live weir, takes fates out of memory
 * that it has made and shares with the workers. Each word of it may be another when it is read
 * again: what a reader checks is a copy, so no writer harms it.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_FATE_READER_H
#define WEIR_FATE_READER_H

#include <stdbool.h>

#include "capture/fate_layout.h"

/* A memfd with so many bytes, and where it is mapped. The descriptor, or -errno. */
int fate_reader_make(size_t bytes, void **memory);

struct fate_taken {
	struct fate fate;
	uint64_t missed; /* before it, of its kind and ring, since the beginning */
	simtime poll_ns;
	char names[2 * UINT8_MAX]; /* of its cloud and stage */
	struct fate_ring_state *ring;
	uint64_t after; /* where the next one begins */
};

/* The oldest fate of a ring; its frame is there until it is passed. False: there is none now, or
 * what is there is no record: then *broken. */
bool fate_reader_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken);
void fate_reader_pass(const struct fate_taken *taken);
simtime fate_reader_settled(const void *memory);
/* How many of a kind found no room so far, in all rings. */
uint64_t fate_reader_missed(void *memory, size_t bytes, enum fate_kind kind);

#endif
