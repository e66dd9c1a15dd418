/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: what the scenario calls a device, opened. It is a DPDK ethdev (a PCI address, or a
 * virtual device with its arguments), an interface of the kernel (packet_port.h), a tap that this
 * process holds (tap_port.h) or a capture file that plays in real time (paced_file.h).
 *
 * An ethdev gets one receive queue, as many transmit queues as requested and possible, promiscuous
 * reception, no offload that changes packets, and, if it is a PCI device, the largest MTU up to
 * PORT_MTU_MAX. The MTU of a kernel interface under a virtual device is left as it is.
 *
 * Ownership: received mbufs are the caller's; mbufs that were taken by port_transmit are the
 * port's.
 * Thread: open, start, close, queries: control. Receive: the one worker that owns the port.
 * Transmit: one worker a queue.
 */
#ifndef WEIR_PORT_H
#define WEIR_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "port/interface.h"
#include "port/packet_port.h"
#include "port/paced_file.h"
#include "port/port_identity.h"
#include "port/port_time.h"
#include "port/tap_port.h"
#include "scenario/scenario.h"

#define PORT_MTU_MAX 9600

/* Where in an mbuf a device writes when it received it, and reads when to send it. */
struct port_stamping {
	uint16_t id; /* of the ethdev */
	int offset;
	uint64_t flag;
	int launch_offset;
	uint64_t launch_flag;
};

struct port {
	/* constant while workers run */
	/* one of them, or an ethdev */
	struct paced_file *file;
	struct packet_port *packets;
	struct tap_port *tap;
	uint16_t id; /* of the ethdev */
	uint16_t tx_queues;
	uint64_t speed_bps; /* of its wire, as the scenario says; 0: it does not */
	bool stamps;        /* the device says when it received what */
	simtime launch_ns;  /* its lead: it gets the time to send so much ahead; 0: it does not */
	/* of the device, where one of both holds */
	struct port_time time;
	struct port_stamping stamping;
	/* Control writes, workers read: the link was up and went down. What is sent then would lie
	 * in the device and go out, stale, when it is up again. */
	uint32_t down;
	/* control only */
	char name[SCENARIO_NAME_BYTES];
	char *device; /* owned */
	const char *driver;
	struct port_identity identity;
	struct interface interface;
	bool started;
	bool link_up;
};

/* Whether a device text means a PCI device. */
bool port_is_pci(const char *device);
/* Whether a port of the scenario has one. */
bool port_any_pci(const struct scenario *scenario);
/* Whether every PCI device of the scenario is there for DPDK to take, before anything is reserved
 * for it. 0, or -errno with problem (pci_device.h). */
int port_check_pci(const struct scenario *scenario, struct problem *problem);
/* Whether DPDK has room for the devices of the scenario beside those that are open. 0, or -ENOSPC
 * with problem. */
int port_check_room(const struct scenario *scenario, struct problem *problem);
/* Whether no two ports of the scenario mean the same interface, PCI device or output. 0, or -EINVAL
 * with problem. */
int port_check_distinct(const struct scenario *scenario, struct problem *problem);
/* The same of a port that was opened and those before it, by what the drivers know by now. */
int port_check_opened(const struct port *ports, uint32_t n, struct problem *problem);
/* Ethdevs that this process has made itself, and whose names begin so, are opened as they are
 * instead of being probed: the rings between weir and a tester in one process. NULL: none. */
void port_offer(const char *prefix);
/* Opens and configures; does not start. 0, or -errno with problem. */
int port_open(struct port *port, const struct port_conf *conf, uint16_t tx_queues,
              struct rte_mempool *pool, struct problem *problem);
/* What a tap receives and sends is put there, too (tap_port.h); before the port starts. */
void port_watch(struct port *port, struct frame_queue *frames, uint16_t index);
/* Packets come from now on, and a capture file counts from the present instant. clock NULL: from 0;
 * no time stamps then. */
int port_start(struct port *port, const struct clock *clock, struct problem *problem);
/* Keeps the device's clock in step; about every 100 ms. */
void port_keep_time(struct port *port, const struct clock *clock);
/* Workers have stopped: what port_losses says stands still from now on. */
void port_halt(struct port *port);
/* Stops, closes, and leaves the device as it was found. May follow a failed port_open. 0, or -EIO
 * with problem: frames are missing in a capture that was to be written. */
int port_close(struct port *port, struct problem *problem);

/* Whether the driver forgets to give back, when it is closed, the mbufs in its rings:
 * net_af_xdp (DPDK 22.11 to 25.11). */
bool port_keeps_mbufs(const struct port *port);
/* By which way in an interface was opened: `interface eth1 (veth, MTU 1500), by a packet socket`;
 * "" for other ports, whose device says it. */
void port_introduce(const struct port *port, char *text, size_t room);
/* Why its link is down, and what helps; "" if it is up. */
void port_why_down(const struct port *port, char *text, size_t room);
/* Reads the state of the link; true when it has changed. */
bool port_watch_link(struct port *port);
/* Becomes readable when a packet has come; -1: there is none. */
int port_descriptor(const struct port *port);
uint64_t port_link_bps(const struct port *port);
/* What a device loses, so far. */
struct port_losses {
	uint64_t missed;      /* before weir saw them */
	uint64_t no_mbuf;     /* there was none for them */
	uint64_t not_sent;    /* handed to the device, which says that it could not send them */
	uint64_t not_written; /* handed to a file, and they could not be written */
	uint64_t unfinished;  /* of those missed: what was left to do of them weir cannot do */
	uint64_t too_large;   /* of those not sent: larger than the interface takes */
};
void port_losses(struct port *port, struct port_losses *losses);

static inline uint16_t port_receive(struct port *port, struct rte_mbuf **mbufs, uint16_t n,
                                    simtime now)
{
	if (unlikely(port->file != NULL))
		return paced_file_receive(port->file, mbufs, n, now);
	if (unlikely(port->packets != NULL))
		return packet_port_receive(port->packets, mbufs, n);
	if (unlikely(port->tap != NULL))
		return tap_port_receive(port->tap, mbufs, n);
	return rte_eth_rx_burst(port->id, 0, mbufs, n);
}

/* Returns how many were taken, from the front. */
static inline uint16_t port_transmit(struct port *port, uint16_t queue, struct rte_mbuf **mbufs,
                                     const simtime *due_ns, uint16_t n)
{
	if (unlikely(port->file != NULL))
		return paced_file_transmit(port->file, mbufs, due_ns, n);
	if (unlikely(__atomic_load_n(&port->down, __ATOMIC_RELAXED)))
		return 0;
	if (unlikely(port->packets != NULL))
		return packet_port_transmit(port->packets, mbufs, n);
	if (unlikely(port->tap != NULL))
		return tap_port_transmit(port->tap, mbufs, n);
	return rte_eth_tx_burst(port->id, queue, mbufs, n);
}

#endif
