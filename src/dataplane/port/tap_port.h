/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tap as a port: `tap:FD`, the descriptor of a tap that was made before with IFF_TAP, IFF_NO_PI
 * and IFF_VNET_HDR (namespace_tap does so). The kernel's end may be in any network namespace, and
 * it goes with the last descriptor, however its processes end.
 *
 * As with a packet socket, the kernel says what is left to do of each frame, and the port does it
 * (super_frame.h); frames to be sent are joined where that cannot be observed (super_frame.h).
 * Frames wait for weir in the queue of the interface (txqueuelen), so there is no ring and no
 * locked memory.
 *
 * `tap:FD,opening=FD2`: a TCP segment that opens a connection (SYN without ACK) is not written to
 * the tap but sent to FD2, a socket of frames. The owner of FD2 writes the segment to the tap when
 * there is a server that can answer (gateway.h). When a TCP flow changes its DSCP, the headers of
 * its segment are sent to FD2 as well (dscp_watch.h).
 *
 * `tap:FD,stamps=FD3`, alone or behind `opening`: FD3 is a socket of stamps (below). A frame then
 * has the instant at which the kernel sent it into the tap, however late a worker reads it; if that
 * is not known, the instant at which it was read.
 *
 * Ownership: the descriptors stay the caller's.
 *
 * Thread: receive and transmit: one worker each. Everything else: control.
 */
#ifndef WEIR_TAP_PORT_H
#define WEIR_TAP_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "capture/frame_queue.h"
#include "machine/clock.h"
#include "scenario/problem.h"

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

void tap_stamps_close(struct tap_stamps *stamps); /* one that is all zero is allowed */
/* Gives all copies back. */
void tap_stamps_clear(struct tap_stamps *stamps);
/* Returns by the wall clock when the frame that was just read came, or 0 if that is not known. The
 * frame is as the kernel handed it over. */
uint64_t tap_stamps_find(struct tap_stamps *stamps, const uint8_t *frame, uint32_t bytes);

#define TAP_PORT "tap:" /* the beginning of a device text */

struct tap_port;

bool tap_port_is(const char *device);
/* Opens the port. Returns 0, or -errno with problem: the text is wrong, the descriptor is no such
 * tap, no memory. */
int tap_port_open(const char *device, struct rte_mempool *pool, struct tap_port **port,
                  struct problem *problem);
/* NULL is allowed. */
void tap_port_close(struct tap_port *port);
/* Copies what the port receives and has sent into `frames`, with the instants of the clock of
 * tap_port_start: frames as they cross weir, so none is a super-frame. `index` identifies the port.
 * To be called before the port starts. */
void tap_port_watch(struct tap_port *port, struct frame_queue *frames, uint16_t index);
/* Starts the port, and drops what has come before: announcements of the kernel, because nobody can
 * use the tap yet. `clock` is needed for tap_port_watch
 * and stamps only, and may be NULL otherwise. */
void tap_port_start(struct tap_port *port, const struct clock *clock);

/* Returns a descriptor that becomes readable when a frame has come. */
int tap_port_descriptor(const struct tap_port *port);

/* Returns true if the port has stamps. */
bool tap_port_stamps(const struct tap_port *port);
/* Writes into came_ns, unless it is NULL, when each frame came: in order, never after the call. */
uint16_t tap_port_receive(struct tap_port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                          uint16_t n);
/* Returns true if frames may be left that came before the latest call of tap_port_receive. */
bool tap_port_is_behind(const struct tap_port *port);
/* Returns how many frames were taken, from the front: those that are sent together, or 0 if the
 * kernel refuses them. The others are to be passed again by the next call. n > 0. */
uint16_t tap_port_transmit(struct tap_port *port, struct rte_mbuf **mbufs, uint16_t n);

/* Losses so far. */
struct tap_port_losses {
	uint64_t no_mbuf;    /* there was no mbuf */
	uint64_t unfinished; /* received in a state that weir cannot finish */
	uint64_t not_sent;   /* the kernel does not take them */
	uint64_t unstamped;  /* no loss: of a port with stamps, those that had none */
};
void tap_port_losses(const struct tap_port *port, struct tap_port_losses *losses);

#endif
