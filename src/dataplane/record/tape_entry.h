/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recording is made of: entries, in the order in which one worker's engine met them. On a
 * tape (tape.h) they lie one behind the other; in a recording (recorded_file.h) packets are packet
 * blocks, and each other entry is a block with the same bytes. In the byte order of x86-64 and
 * arm64.
 *
 * The order is what counts: a packet that came at the instant of a change came before or after it,
 * and only the place of the two says which.
 *
 *   kind        n                 number                 word             behind it
 *   PACKETS     packets           of the first packet    -                ages, frames
 *   CHANGE      -                 of the change, from 1  -                -
 *   CLEAR       -                 -                      -                -
 *   INSERTION   frames            bytes of each          -                cloud, frames
 *   DEPARTURES  packets           of the first that      -                a digest of each
 *                                 left there, from 1
 *   CHECK       slot of a cloud   digest of its counters hash of its name -
 *   UNSENT      bytes on the wire when it was due        its digest       -
 *   UNHELD      packets           of the first of its    hash of cloud    -
 *                                 want (scarcity.h)
 *   GAP         packets           since when             -                -
 *   SNAPSHOT    which part, from  bytes of all parts     digest of all    a part of a snapshot
 *               0                                        parts
 *   SUM         departures so     sum of their due       -                -
 *               far               times; both without
 *                                 what does not fit
 *   END         -                 -                      -                -
 *
 * `port` is where packets come in; of DEPARTURES, SUM and UNSENT where they leave. `t_ns` is the
 * engine's instant: at which it got the packets or the change, or up to which it had advanced; of
 * the real losses, that of the entry ahead. It does not decrease.
 */
#ifndef WEIR_TAPE_ENTRY_H
#define WEIR_TAPE_ENTRY_H

#include <stdint.h>

#include "simtime.h"

enum tape_kind {
	TAPE_PACKETS = 1,
	TAPE_CHANGE,
	TAPE_CLEAR,
	TAPE_INSERTION,
	TAPE_DEPARTURES,
	TAPE_CHECK,
	TAPE_UNSENT, /* a real loss: no device took it */
	TAPE_UNHELD, /* real losses: there was no memory; `flags`: the want (scarcity.h) */
	TAPE_GAP,    /* what happened in between is not recorded */
	TAPE_END,    /* the worker has stopped */
	/* Of a flight (flight_ring.h): what its engine remembered and held at that instant, and in
	 * place of a digest of each packet what left by then at a port. */
	TAPE_SNAPSHOT,
	TAPE_SUM,
	TAPE_KINDS,
	TAPE_PADDING = 255,
};

#define TAPE_AGES 0x1 /* PACKETS: the age of each stands ahead of the tape_frames */
/* CHANGE, CLEAR, INSERTION: there was no memory for some of what was due, and it was in its cloud
 * still (engine_settle). END: some of what was due had not left. */
#define TAPE_UNSETTLED 0x1
#define TAPE_BLIND     0x1 /* GAP: a change, a clearing or an insertion is missing, too */
#define TAPE_LAST      0x1 /* SNAPSHOT: the last of its parts; on a tape it has none (tape.h) */

#define TAPE_CLOUD_BYTES 32

struct tape_entry {
	uint32_t bytes; /* of the whole: a multiple of 8 */
	uint8_t kind, flags;
	uint16_t port;
	uint32_t n, word;
	simtime t_ns;
	uint64_t number;
};

/* PACKETS: one for each, ahead of the frames, whose bytes are filled up to a multiple of 8. */
struct tape_frame {
	uint32_t bytes, wire_bytes; /* kept, and on the wire */
};

_Static_assert(sizeof(struct tape_entry) == 32 && sizeof(struct tape_frame) == 8,
               "as it lies in a file");

static inline uint32_t tape_padded(uint32_t bytes)
{
	return (bytes + 7) & ~UINT32_C(7);
}

#endif
