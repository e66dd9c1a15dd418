/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries copies of the frames of a live run from the workers to the code that writes them. It is a
 * ring, so a worker neither calls the system nor waits, not even for another worker that was
 * preempted while it put a frame. A frame for which there is no room is not copied, but counted.
 *
 * The ring has room for FRAME_QUEUE_BYTES; a frame takes its bytes and 24 more, in steps of 64.
 * Frames come out in the order in which they were put. That is the order of time but for frames
 * that a worker read later than they came: others were put meanwhile.
 *
 * Ownership: the bytes of a taken frame are the queue's until the next call.
 * Thread: put: any worker; everything else: one at a time.
 */
#ifndef WEIR_FRAME_QUEUE_H
#define WEIR_FRAME_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "scenario/scenario.h"
#include "simtime.h"

#define FRAME_QUEUE_BYTES (64u << 20)
/* A longer frame is truncated. */
#define FRAME_QUEUE_FRAME_MAX 16360

struct frame_queue;

struct queued_frame {
	simtime t_ns;
	uint32_t bytes, wire_bytes;
	uint16_t port; /* index in the scenario */
	bool sent;     /* by weir, out of the port; false: received */
	const uint8_t *data;
};

/* Returns NULL if there is no memory. The frame queue must outlive the workers. */
struct frame_queue *frame_queue_make(void);
void frame_queue_free(struct frame_queue *frame_queue); /* NULL is allowed */
/* Copies the frames. Ownership: the mbufs stay the caller's. */
void frame_queue_put(struct frame_queue *frame_queue, uint16_t port, bool sent, simtime t_ns,
                     struct rte_mbuf *const *mbufs, uint16_t n);
/* Returns false if the queue is empty. */
bool frame_queue_take(struct frame_queue *frame_queue, struct queued_frame *frame);
/* Returns how many frames of a port found no room. */
uint64_t frame_queue_missed(const struct frame_queue *frame_queue, uint16_t port);

#endif
