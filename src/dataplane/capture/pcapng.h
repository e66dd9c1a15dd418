/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a capture of several interfaces: pcapng, as
 * https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html says; one section, in this
 * machine's byte order; frames of Ethernet; times in nanoseconds. A frame says at which interface
 * it was, and which way it went there; at the end each interface says how many there were and how
 * many of them are missing. Readers of one interface only are served by pcap (dump.h).
 *
 * The file appears under its name when it is complete (atomic_file.h).
 *
 * Ownership: pcapng_publish and pcapng_discard free the pcapng; one of them ends every pcapng.
 * Thread: one at a time.
 */
#ifndef WEIR_PCAPNG_H
#define WEIR_PCAPNG_H

#include <stdint.h>

#include "scenario/problem.h"
#include "simtime.h"

struct pcapng;

/* As of epb_flags: seen by the host whose interface it is. */
enum pcapng_way { PCAPNG_NO_WAY, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

struct pcapng_interface {
	const char *name, *description;
	uint32_t snap; /* of frames at most so many bytes are there; 0: all */
};

struct pcapng_frame {
	uint32_t interface;
	simtime t_ns; /* since 1970 */
	const void *data;
	uint32_t bytes, wire_bytes; /* at hand, and on the wire */
	enum pcapng_way way;
	uint64_t packet;     /* the same at each interface that it passes; 0: it has no name */
	uint64_t lost;       /* at this interface between the frame before and this one */
	const char *comment; /* or NULL */
};

/* `comment`: of the whole; "": none. 0; -EINVAL with problem when the file cannot be made; -ENOMEM.
 */
int pcapng_open(const char *path, const char *comment, const struct pcapng_interface *interfaces,
                uint32_t n, struct pcapng **pcapng, struct problem *problem);
/* One more interface, ahead of its first frame. Its number, or -ENOMEM. */
int pcapng_interface_add(struct pcapng *pcapng, const struct pcapng_interface *interface);
/* Adds a frame. Errors stay until the end. */
void pcapng_write(struct pcapng *pcapng, const struct pcapng_frame *frame);
/* All that was added is in the file, or the pipe: 0; or, with problem, what atomic_file_error
 * says. */
int pcapng_flush(struct pcapng *pcapng, struct problem *problem);
/* `missing[i]`: frames of interface i that are not in the file. 0; or, with problem, what
 * atomic_file_error says. */
int pcapng_finish(struct pcapng *pcapng, const uint64_t *missing, struct problem *problem);
int pcapng_publish(struct pcapng *pcapng, struct problem *problem);
void pcapng_discard(struct pcapng *pcapng); /* NULL is allowed */

#endif
