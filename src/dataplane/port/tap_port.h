/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tap as a port: `tap:FD`, the descriptor of one that was made before with IFF_TAP, IFF_NO_PI and
 * IFF_VNET_HDR (namespace_tap does so). The kernel's end may be in any network namespace, and it
 * goes with the last descriptor, however its processes end.
 *
 * As with a packet socket the kernel says what is left to do of each frame, and the port does it
 * (super_frame.h); what is sent is joined where nobody can tell (joined_frame.h). Frames wait for
 * weir in the queue of the interface (txqueuelen), so there is no ring and no locked memory.
 *
 * `tap:FD,opening=FD2`: a TCP segment that opens a connection (SYN without ACK) is not written to
 * the tap but sent to FD2, a socket of frames. Its owner writes it to the tap when there is
 * somebody who can answer (gateway.h).
 *
 * Ownership: the descriptors stay the caller's.
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

#define TAP_PORT "tap:" /* how a device text begins */

struct tap_port;

bool tap_port_is(const char *device);
/* 0, or -errno with problem: the text is wrong, or the descriptor is no such tap. */
int tap_port_open(const char *device, struct rte_mempool *pool, struct tap_port **port,
                  struct problem *problem);
/* NULL is allowed. */
void tap_port_close(struct tap_port *port);
/* What it receives and what it has sent is put there, too, with the instants of the clock of
 * tap_port_start: frames as they cross weir, so none is a super-frame. `index`: of the port. To be
 * called before the port starts. */
void tap_port_watch(struct tap_port *port, struct frame_queue *frames, uint16_t index);
/* Drops what has come before. `clock`: for who watches, else NULL will do. */
void tap_port_start(struct tap_port *port, const struct clock *clock);

/* Becomes readable when a frame has come. */
int tap_port_descriptor(const struct tap_port *port);

uint16_t tap_port_receive(struct tap_port *port, struct rte_mbuf **mbufs, uint16_t n);
/* Returns how many were taken, from the front: those that wait are for the next call. */
uint16_t tap_port_transmit(struct tap_port *port, struct rte_mbuf **mbufs, uint16_t n);

/* So far. */
struct tap_port_losses {
	uint64_t no_mbuf;    /* there was none for them */
	uint64_t unfinished; /* received, and what is left to do of them weir cannot do */
	uint64_t not_sent;   /* the kernel does not take them */
};
void tap_port_losses(const struct tap_port *port, struct tap_port_losses *losses);

#endif
