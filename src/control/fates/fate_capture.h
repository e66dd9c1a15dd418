/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fates as a capture: one pcapng with an interface for each point of each cloud (`down:in`,
 * `down:drops`), in the order of time, in nanoseconds. A packet has the same id at each (the option
 * epb_packetid: its port, and its number there, fate_id). A drop and a mark have a comment with the
 * reason.
 *
 * Ownership: end each capture with fate_capture_publish, fate_capture_keep or fate_capture_discard,
 * which free it.
 * Thread: one at a time.
 */
#ifndef WEIR_FATE_CAPTURE_H
#define WEIR_FATE_CAPTURE_H

#include <stdint.h>

#include "account/witness.h"
#include "fates/fate_text.h"
#include "scenario/problem.h"

struct fate_capture;

/* The port is in the upper 16 bits, the number in the lower 48, enough for a month at 100 million
 * packets a second; 0: the packet is of no port. */
#define FATE_ID_SHIFT 48

static inline uint64_t fate_id(const struct fate *fate)
{
	if (fate->packet == 0)
		return 0;
	return (uint64_t)fate->port << FATE_ID_SHIFT |
	       (fate->packet & ((UINT64_C(1) << FATE_ID_SHIFT) - 1));
}

struct fate_capture_plan {
	const char *comment; /* on the file as a whole; "": none */
	/* The cloud whose interfaces are made at once, in the order of the points; NULL: each
	 * interface is made with its first frame. */
	const char *cloud;
	uint32_t points; /* as bits 1 << point; fates at other points are left out */
	uint32_t snap;   /* most bytes of a frame */
	int64_t wall_ns; /* added to the instants of fates for ns since 1970 */
};

/* Opens a capture. Returns 0, or -errno with problem. */
int fate_capture_open(const char *path, const struct fate_capture_plan *plan,
                      struct fate_capture **capture, struct problem *problem);
/* Adds a fate. `lost`: how many of its kind are missing directly before it; they are reported at
 * its interface. */
void fate_capture_put(struct fate_capture *capture, const struct fate *fate, uint64_t lost);
/* Writes the fates up to `until`, all of which must have been put. Returns 0, or -errno with
 * problem. */
int fate_capture_settle(struct fate_capture *capture, simtime until, struct problem *problem);
/* Returns how many frames were written. */
uint64_t fate_capture_frames(const struct fate_capture *capture);
/* Writes what is buffered to the file now. Returns 0, or -errno with problem. */
int fate_capture_flush(struct fate_capture *capture, struct problem *problem);
/* Writes the rest and the statistics. `missed`: the losses of each kind, in all. Returns 0, or
 * -errno with problem. */
int fate_capture_finish(struct fate_capture *capture, const uint64_t missed[FATE_KINDS],
                        struct problem *problem);
int fate_capture_publish(struct fate_capture *capture, struct problem *problem);
/* Publishes what was written, whatever failed before. Returns as pcapng_keep does. */
int fate_capture_keep(struct fate_capture *capture, struct problem *problem);
void fate_capture_discard(struct fate_capture *capture); /* NULL is allowed */

#endif
