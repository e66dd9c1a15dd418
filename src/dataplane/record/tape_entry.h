/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of which a recording consists, in the order in which one worker's engine met them. On
 * a tape (tape.h) they are consecutive. In a recording (recorded_file.h) packets are packet blocks,
 * and each other entry is a block with the same bytes. The byte order is that of x86-64 and arm64.
 *
 * The order matters: a packet that came at the instant of a change came before or after it, and
 * only the order of their entries tells which.
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
 *   UNHELD      -                 the earliest instant   -                -
 *                                 without memory
 *   GAP         packets           since when             -                -
 *   SNAPSHOT    which part, from  bytes of all parts     digest of all    a part of a snapshot
 *               0                                        parts
 *   SUM         departures so     sum of their due       -                -
 *               far               times; both without
 *                                 what does not fit
 *   END         -                 -                      -                -
 *
 * `port` is the port of arrival; of DEPARTURES, SUM and UNSENT, the port of departure. `t_ns` is
 * the instant at which the engine got the packets or the change, or to which it had advanced; of
 * real losses (UNSENT, UNHELD), that of an entry beside it. It does not decrease. In the dump of a
 * flight, UNSENT entries lie behind all others, and their `t_ns` is 0.
 *
 * Older versions of weir wrote an UNHELD for each packet, or several with their number in `n`, and
 * TAPE_UNSETTLED if due packets found no memory when something else was taken over.
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
	TAPE_UNSENT, /* real loss: no device took the packet */
	TAPE_UNHELD, /* memory was short: what follows cannot be repeated */
	TAPE_GAP,    /* entries are missing here */
	TAPE_END,    /* the worker has stopped */
	/* Of a flight (flight.h): the state of the engine at that instant, with the packets
	 * that it held; and what had left at a port by then, in place of a digest of each
	 * packet. */
	TAPE_SNAPSHOT,
	TAPE_SUM,
	TAPE_KINDS,
	TAPE_PADDING = 255,
};

#define TAPE_AGES 0x1 /* PACKETS: ages precede the tape_frames */
/* END: something that was due had not left. CHANGE, CLEAR, INSERTION of an older weir: for lack of
 * memory, something that was due was still in its cloud. */
#define TAPE_UNSETTLED 0x1
#define TAPE_BLIND     0x1 /* GAP: a change, a clearing or an insertion is missing, too */
#define TAPE_LAST      0x1 /* SNAPSHOT: the last part; on a tape, always (tape.h) */

#define TAPE_CLOUD_BYTES 32

struct tape_entry {
	uint32_t bytes; /* of the whole entry: a multiple of 8 */
	uint8_t kind, flags;
	uint16_t port;
	uint32_t n, word;
	simtime t_ns;
	uint64_t number;
};

/* PACKETS: one for each packet, ahead of the frames. Each frame is padded to a multiple of 8. */
struct tape_frame {
	uint32_t bytes, wire_bytes; /* bytes kept, and bytes on the wire */
};

_Static_assert(sizeof(struct tape_entry) == 32 && sizeof(struct tape_frame) == 8,
               "as it lies in a file");

/* Returns the instant from which on what the worker did cannot be repeated, because memory was
 * short, if the entry says so; else SIMTIME_NEVER. */
static inline simtime tape_lacked_ns(const struct tape_entry *entry)
{
	if (entry->kind == TAPE_UNHELD)
		return entry->n == 0 ? entry->number : entry->t_ns;
	if ((entry->kind == TAPE_CHANGE || entry->kind == TAPE_CLEAR ||
	     entry->kind == TAPE_INSERTION) &&
	    (entry->flags & TAPE_UNSETTLED))
		return entry->t_ns;
	return SIMTIME_NEVER;
}

static inline uint32_t tape_padded(uint32_t bytes)
{
	return (bytes + 7) & ~UINT32_C(7);
}

#endif
