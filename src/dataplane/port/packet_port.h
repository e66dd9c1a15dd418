/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel interface as a port, by a packet socket: `interface:eth1`, or just `eth1`.
 *
 * net_af_packet passes on what the kernel hands over: unfinished checksums, and super-frames cut to
 * the size of an mbuf. This port asks the kernel what is left to do of each frame (PACKET_VNET_HDR)
 * and does it (super_frame.h), restores the VLAN tag that the kernel has taken out
 * (PACKET_AUXDATA), and takes frames of any length. Frames to be sent are joined where that cannot
 * be observed (joined_frame.h).
 *
 * The kernel stamps a frame when it comes to the interface (SO_TIMESTAMPNS). This stamp, converted
 * to weir's clock (clock.h), is the instant of the frame, however late a worker reads it.
 *
 * If the interface carries IP packets without an Ethernet header (tun, WireGuard, PPP), each packet
 * gets a header on reception, with two fixed addresses and the EtherType of its IP version. On
 * transmission the header is removed, and a frame that is not an untagged IP packet is lost.
 *
 * The socket has no ring in memory, so it needs no locked memory (RLIMIT_MEMLOCK), and a frame
 * takes only the room that it needs. A port has 16 MiB of addresses for super-frames of 512 KiB;
 * only pages that a frame has filled take memory. If weir has CAP_NET_ADMIN, 32 MiB of frames can
 * wait in the socket; otherwise as many as net.core.rmem_max allows.
 *
 * Ownership: the port owns its socket and buffers.
 *
 * Thread: receive and transmit: one worker each. Everything else: control.
 */
#ifndef WEIR_PACKET_PORT_H
#define WEIR_PACKET_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "machine/clock.h"
#include "port/interface.h"
#include "simtime.h"
#include "scenario/problem.h"

struct packet_port;

/* Opens the port on an interface. The socket takes every frame of it from now on. Returns 0, or
 * -errno with problem: no permission, no memory. */
int packet_port_open(const struct interface *interface, struct rte_mempool *pool,
                     struct packet_port **port, struct problem *problem);
/* Binds the socket to another interface, which carries the same, while the workers go on: they
 * receive and send nothing until it is done. Returns 0 or -errno. */
int packet_port_move(struct packet_port *port, const struct interface *interface);
/* NULL is allowed. */
void packet_port_close(struct packet_port *port);
/* Drops and counts what has come before the start. Frames get instants of `clock`; without, NULL,
 * they get none. */
void packet_port_start(struct packet_port *port, const struct clock *clock);

/* Returns a descriptor that becomes readable when a frame has come. */
int packet_port_descriptor(const struct packet_port *port);

/* Writes into came_ns, unless it is NULL, when each frame came: by the kernel's time stamp, in
 * order or nearly so, never after the call. */
uint16_t packet_port_receive(struct packet_port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                             uint16_t n);
/* Returns true if frames may be left that came before the latest call of packet_port_receive. */
bool packet_port_is_behind(const struct packet_port *port);
/* Returns how many frames were taken, from the front. The others are to be passed again by the next
 * call: also of few frames only those that are sent together are taken, which is at least one,
 * unless the kernel refuses it. */
uint16_t packet_port_transmit(struct packet_port *port, struct rte_mbuf **mbufs, uint16_t n);

struct packet_port_losses {
	uint64_t missed;     /* the socket had no room */
	uint64_t no_mbuf;    /* there was no mbuf */
	uint64_t unfinished; /* received in a state that weir cannot finish */
	uint64_t too_large;  /* to be sent, and larger than the interface's MTU */
	uint64_t not_ip;     /* to be sent, and no IP packet: the interface carries nothing else */
	uint64_t not_sent;   /* the interface does not take them: it is down, or gone */
	uint64_t early;      /* came before the start */
	uint64_t unstamped;  /* no loss: received without a time stamp of the kernel */
};
/* Reads the losses so far. Any thread may call it. */
void packet_port_losses(struct packet_port *port, struct packet_port_losses *losses);

#endif
