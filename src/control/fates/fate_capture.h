/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fates as a capture: one pcapng with an interface for each point of each cloud (`down:in`,
 * `down:drops`), in the order of time, in nanoseconds. A packet has the same id at each (the option
 * epb_packetid: its port, and its number there, id_of). A drop and a mark have a comment that says
 * why.
 *
 * Ownership: fate_capture_publish and fate_capture_discard free it; one of them ends every one.
 * Thread: one at a time.
 */
#ifndef WEIR_FATE_CAPTURE_H
#define WEIR_FATE_CAPTURE_H

#include <stdint.h>

#include "account/witness.h"
#include "fates/points.h"
#include "scenario/problem.h"

struct fate_capture;

/* The port in the upper 16 bits, the number in the lower 48, which last for a month at 100 million
 * packets a second; 0: no packet of a port. */
#define FATE_ID_SHIFT 48

static inline uint64_t fate_id(const struct fate *fate)
{
	if (fate->packet == 0)
		return 0;
	return (uint64_t)fate->port << FATE_ID_SHIFT |
	       (fate->packet & ((UINT64_C(1) << FATE_ID_SHIFT) - 1));
}

struct fate_capture_plan {
	const char *comment; /* of the whole; "": none */
	/* Whose interfaces are there from the beginning, in the order of the points; NULL: each
	 * comes with its first frame. */
	const char *cloud;
	uint32_t points; /* as bits 1 << point: fates of others are left out */
	uint32_t snap;   /* bytes of a frame, at most */
	int64_t wall_ns; /* from the instants of fates to those since 1970 */
};

/* 0, or -errno with problem. */
int fate_capture_open(const char *path, const struct fate_capture_plan *plan,
                      struct fate_capture **capture, struct problem *problem);
/* `lost`: of its kind, directly before it: they are said to be missing at its interface. */
void fate_capture_put(struct fate_capture *capture, const struct fate *fate, uint64_t lost);
/* What happened at `until` or before has been put: it is written. 0, or -errno with problem. */
int fate_capture_settle(struct fate_capture *capture, simtime until, struct problem *problem);
/* How many it has written. */
uint64_t fate_capture_frames(const struct fate_capture *capture);
/* The same into the file now. */
int fate_capture_flush(struct fate_capture *capture, struct problem *problem);
/* `missed`: of each kind, in all. */
int fate_capture_finish(struct fate_capture *capture, const uint64_t missed[FATE_KINDS],
                        struct problem *problem);
int fate_capture_publish(struct fate_capture *capture, struct problem *problem);
void fate_capture_discard(struct fate_capture *capture); /* NULL is allowed */

#endif
