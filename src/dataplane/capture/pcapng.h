/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a capture of several interfaces: a pcapng as in
 * https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html, with one section, in this
 * machine's byte order, with frames of Ethernet and times in nanoseconds. Each frame has its
 * interface and its direction there. At the end, the file states for each interface how many frames
 * there were and how many of them are missing. For readers that take only one interface, see pcap
 * (dump.h).
 *
 * The file appears under its name when it is complete (atomic_file.h).
 *
 * Ownership: pcapng_publish, pcapng_keep and pcapng_discard free the pcapng; one of them ends every
 * pcapng.
 * Thread: one at a time.
 */
#ifndef WEIR_PCAPNG_H
#define WEIR_PCAPNG_H

#include <stdint.h>

#include "scenario/problem.h"
#include "simtime.h"

struct pcapng;

/* Direction, as in epb_flags: as seen by the host to which the interface belongs. */
enum pcapng_way { PCAPNG_NO_WAY, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

struct pcapng_interface {
	const char *name, *description;
	uint32_t snap; /* the most bytes of a frame in the file; 0: all */
};

struct pcapng_frame {
	uint32_t interface;
	simtime t_ns; /* since 1970 */
	const void *data;
	uint32_t bytes, wire_bytes; /* in memory, and on the wire */
	enum pcapng_way way;
	uint64_t packet;     /* the same at each interface that the packet passes; 0: none */
	uint64_t lost;       /* frames lost at this interface since its previous frame */
	const char *comment; /* or NULL */
};

/* Opens a pcapng. `comment` is that of the section, "" for none. Returns 0; -EINVAL with problem if
 * the file cannot be created; or -ENOMEM with problem. */
int pcapng_open(const char *path, const char *comment, const struct pcapng_interface *interfaces,
                uint32_t n, struct pcapng **pcapng, struct problem *problem);
/* Adds an interface, before its first frame. Returns its number, or -ENOMEM. */
int pcapng_interface_add(struct pcapng *pcapng, const struct pcapng_interface *interface);
/* Adds a frame. Errors are kept until the end. */
void pcapng_write(struct pcapng *pcapng, const struct pcapng_frame *frame);
/* Writes all that was added to the file or the pipe. Returns 0, or an error with problem, as
 * atomic_file_error does. */
int pcapng_flush(struct pcapng *pcapng, struct problem *problem);
/* Completes the file. `missing[i]` is the number of frames of interface i that are not in it.
 * Returns 0, or an error with problem, as atomic_file_error does. */
int pcapng_finish(struct pcapng *pcapng, const uint64_t *missing, struct problem *problem);
int pcapng_publish(struct pcapng *pcapng, struct problem *problem);
/* Publishes the file as it is, whatever failed before; its last block may be cut. Returns as
 * atomic_file_keep does. */
int pcapng_keep(struct pcapng *pcapng, struct problem *problem);
void pcapng_discard(struct pcapng *pcapng); /* NULL is allowed */

#endif
