/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the frames of a live run on their way from the workers to who writes them: a ring, so
 * that a worker neither calls the system nor waits, not even for another that was preempted
 * while it put a frame. A frame that finds no room is not kept, and is counted.
 *
 * The ring has room for FRAME_QUEUE_BYTES; a frame takes its bytes and 24 more, in steps of 64.
 * Frames come out as they were put in. A worker puts its frames in order of time; those of several
 * workers may differ by what a worker takes from its reading of the clock to here.
 *
 * Ownership: the bytes of a frame that was taken are the queue's until the next call.
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
/* Of a longer frame the beginning is kept. */
#define FRAME_QUEUE_FRAME_MAX 16360

struct frame_queue;

struct queued_frame {
	simtime t_ns;
	uint32_t bytes, wire_bytes;
	uint16_t port; /* index in the scenario */
	bool sent;     /* by weir, to what is behind the port; else received */
	const uint8_t *data;
};

/* NULL: no memory. It must outlive the workers. */
struct frame_queue *frame_queue_make(void);
void frame_queue_free(struct frame_queue *frame_queue); /* NULL is allowed */
/* The mbufs stay the caller's. */
void frame_queue_put(struct frame_queue *frame_queue, uint16_t port, bool sent, simtime t_ns,
                     struct rte_mbuf *const *mbufs, uint16_t n);
/* False: there is none now. */
bool frame_queue_take(struct frame_queue *frame_queue, struct queued_frame *frame);
/* How many of a port found no room. */
uint64_t frame_queue_missed(const struct frame_queue *frame_queue, uint16_t port);

#endif
