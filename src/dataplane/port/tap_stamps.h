/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the kernel sent frames into a tap. The tap itself does not say it. A packet socket at the
 * interface, in its namespace, gets a copy of each frame just before the tap does, in the same
 * order and with a time stamp. Its first bytes lie in a ring that the kernel and weir share, so
 * reading them takes no system call.
 *
 * A frame that is read from the tap is searched for among the copies, by its length and its first
 * bytes, from the oldest on. Copies before it are of frames for which the tap had no room. If no
 * copy fits (the ring was full, or the sender bypassed the socket with PACKET_QDISC_BYPASS), the
 * time is not known, and all copies that were looked at are given back to the kernel: so a copy is
 * looked at once, whatever happens.
 *
 * Thread: tap_stamps_socket: any; then the worker that receives from the tap.
 */
#ifndef WEIR_TAP_STAMPS_H
#define WEIR_TAP_STAMPS_H

#include <stdint.h>

/* Returns a socket for the interface with this index in the namespace of the calling thread, or
 * -errno. Ownership: the caller's. */
int tap_stamps_socket(int index);

/* More copies than frames can wait in the tap (its txqueuelen), each with room for the kernel's
 * header and the headers of TCP over IPv4. */
#define TAP_STAMPS_COPIES     16384u
#define TAP_STAMPS_COPY_BYTES 128u

struct tap_stamps {
	uint8_t *ring; /* NULL: there is none */
	uint32_t next; /* the oldest copy */
};

/* Maps the ring of a socket. Returns 0 or -errno. */
int tap_stamps_open(struct tap_stamps *stamps, int fd);
void tap_stamps_close(struct tap_stamps *stamps); /* one that is all zero is allowed */
/* Gives all copies back. */
void tap_stamps_clear(struct tap_stamps *stamps);
/* Returns by the wall clock when the frame that was just read came, or 0 if that is not known. The
 * frame is as the kernel handed it over. */
uint64_t tap_stamps_find(struct tap_stamps *stamps, const uint8_t *frame, uint32_t bytes);

#endif
