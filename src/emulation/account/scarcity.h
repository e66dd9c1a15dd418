/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scarcity records which packets found no memory (record/tape.h), or makes the same packets find
 * none in a repetition (record/rerun_lacks.h). When memory is short depends on the machine: on how
 * long a device holds mbufs, and on when a worker polls. So it has to be recorded.
 *
 * A cloud numbers the packets that ask for memory. Each want has its own numbers: they follow the
 * order in which packets reach that point, and are the same in a burst or alone. That order is a
 * function of what came in, so a number of a want of a cloud names the same packet in both runs.
 * Which block of which pool a packet gets is not such a function, and does not matter.
 *
 * Without a scarcity nothing is numbered, and each place costs one branch for a burst or a packet.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_SCARCITY_H
#define WEIR_SCARCITY_H

#include <stdbool.h>
#include <stdint.h>

enum want {
	WANT_LINE,      /* a packet that comes wants a place on the line, or is held back there */
	WANT_QUEUE,     /* it wants one in the queue of the link */
	WANT_HEAD,      /* one that has left the link wants a place on the line */
	WANT_RELEASE,   /* so does one that reordering held back */
	WANT_LIFT,      /* the head of a band wants a place at the front of the queue */
	WANT_COPY,      /* a duplicate is made */
	WANT_FRAGMENTS, /* fragments are made */
	WANT_ANSWER,    /* a packet that the cloud generates is made */
	WANT_EVENT,     /* and wants a place on the wheel */
	WANT_INSERTION, /* a packet of weir's own is made */
	WANTS,
	/* What cannot be repeated: whether it is asked for at all depends on the machine. */
	WANT_OWN_BYTES = WANTS, /* a packet is to be written to, whose bytes somebody else sees */
	WANT_TIMER,             /* a link of a shared cloud is to be woken */
	WANT_TAKEN,             /* of a queue that drops its head, what the link takes */
	WANT_TURN, /* what is due has to wait in its shared cloud, and something comes meanwhile */
	WANT_KINDS,
};

struct scarcity {
	bool forces; /* there are packets that must find none */
	/* Of the n packets from this number on, how many there are ahead of the next that must find
	 * none; only if it forces. */
	uint32_t (*ahead)(const struct scarcity *scarcity, const char *cloud, enum want want,
	                  uint64_t number, uint32_t n);
	/* The n from this number on have found none. */
	void (*lacked)(struct scarcity *scarcity, const char *cloud, enum want want,
	               uint64_t number, uint32_t n);
};

#endif
