/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scarcity records which packets found no memory (record/tape.h), or makes the same packets find
 * none in a repetition (record/rerun_lacks.h). When memory is short depends on the machine: on how
 * long a device holds mbufs, and on when a worker polls. So it has to be recorded.
 *
 * A cloud numbers the packets that ask for memory. Each want has its own numbers: they follow the
 * order in which packets reach that point, and are the same in a burst or alone. That order is a
 * function of the input, so cloud, want and number name the same packet in both runs. Which block
 * of which pool a packet gets is not such a function, and does not matter.
 *
 * Without a scarcity nothing is numbered, and each place costs one branch per burst or packet.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_SCARCITY_H
#define WEIR_SCARCITY_H

#include <stdbool.h>
#include <stdint.h>

enum want {
	WANT_LINE,      /* an arriving packet: a place on the line, or among those held back */
	WANT_QUEUE,     /* an arriving packet: a place in the queue of the link */
	WANT_HEAD,      /* a packet that has left the link: a place on the line */
	WANT_RELEASE,   /* a packet that reordering held back: the same */
	WANT_LIFT,      /* the head of a band: a place at the front of the queue */
	WANT_COPY,      /* a duplicate: its mbufs */
	WANT_FRAGMENTS, /* fragments: their mbufs */
	WANT_ANSWER,    /* a packet that the cloud generates: its mbuf */
	WANT_EVENT,     /* a packet that the cloud has generated: a place on the wheel */
	WANT_INSERTION, /* a packet of weir's own: its mbuf */
	WANTS,
	/* The wants below cannot be repeated: whether they occur at all depends on the machine. */
	WANT_OWN_BYTES = WANTS, /* a packet to be written to, whose bytes are shared: a copy */
	WANT_TIMER,             /* the link of a shared cloud: a timer */
	WANT_TAKEN,             /* the head, before a packet behind it is pushed out: `taken` */
	WANT_TURN, /* what is due waits in its shared cloud, and something arrives meanwhile */
	WANT_KINDS,
};

struct scarcity {
	bool forces; /* some packets must find none */
	/* Returns how many of the n packets from this number on precede the next one that must find
	 * no memory. Called only if the scarcity forces. */
	uint32_t (*ahead)(const struct scarcity *scarcity, const char *cloud, enum want want,
	                  uint64_t number, uint32_t n);
	/* Records that the n packets from this number on have found no memory. */
	void (*lacked)(struct scarcity *scarcity, const char *cloud, enum want want,
	               uint64_t number, uint32_t n);
};

#endif
