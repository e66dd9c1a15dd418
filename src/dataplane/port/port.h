/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: an opened device of the scenario. It is a DPDK ethdev (a PCI address, or a virtual device
 * with its arguments), an interface of the kernel (port_kinds.h), a tap that this process holds
 * (tap_port.h) or a capture file that plays in real time (port_kinds.h).
 *
 * An ethdev gets one receive queue, as many transmit queues as requested and possible, promiscuous
 * reception, no offload that changes packets, and, if it is a PCI device, the largest MTU up to
 * PORT_MTU_MAX, or up to one mbuf if it cannot scatter. The MTU of a kernel interface under a
 * virtual device is left as it is. A frame in a chain of mbufs is copied into one mbuf if the
 * driver sends no chains (net_af_xdp), and lost if it is longer than that.
 *
 * Ownership: received mbufs are the caller's; mbufs that port_transmit has taken are the port's.
 *
 * Thread: open, start, close, queries: control. Receive: the one worker that owns the port.
 * Transmit: one worker a queue.
 */
#ifndef WEIR_PORT_H
#define WEIR_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "port/around_side.h"
#include "port/interface.h"
#include "port/interface_look.h"
#include "port/port_identity.h"
#include "port/port_kinds.h"
#include "port/port_time.h"
#include "port/tap_port.h"
#include "scenario/scenario.h"

/*
 * Whether the interface under a port is there. It may be deleted, or moved into another network
 * namespace, while weir runs: a container or a virtual machine starts anew, a USB adapter is pulled
 * out. Then the port waits for an interface of that name (interface.h), and takes it.
 *
 * A port with a packet socket binds that socket again, which needs no rights and no agreement with
 * the workers: they find the socket without an interface, and later with one. DPDK's drivers
 * cannot do so; their ports stay without an interface.
 *
 * Thread: control.
 */

#define PRESENCE_TEXT_BYTES 480

struct presence {
	bool gone;
	uint64_t absences;             /* times it was found gone */
	uint64_t absent_ns;            /* in all, the present absence included */
	uint64_t last_ns;              /* of the last absence that has ended */
	uint64_t seen_ns, looked_ns;   /* it was last there; the last look */
	char why[PRESENCE_TEXT_BYTES]; /* an interface of its name cannot be taken; or "" */
};

enum presence_change {
	PRESENCE_SAME,
	PRESENCE_GONE,
	PRESENCE_BACK,
	PRESENCE_REFUSED, /* an interface of its name is there, and cannot be taken */
};

struct port;

/* Looks at `now_ns` whether the interface of a port is there, and tries to take it again if it is
 * gone. Returns what has changed, with a line about it. To be called until nothing has changed: an
 * interface may go and come between two looks. */
enum presence_change presence_watch(struct port *port, uint64_t now_ns, char *line, size_t room);

#define PORT_MTU_MAX 9600

/* The places in an mbuf where a device writes when it received the frame, and reads when to send
 * it. */
struct port_stamping {
	uint16_t id; /* of the ethdev */
	int offset;
	uint64_t flag;
	int launch_offset;
	uint64_t launch_flag;
};

struct port;
/* Receiving from a port whose frames the kernel stamps. */
struct port_stamped {
	/* port_receive(), which also writes when each packet came: nearly in order, never after the
	 * call. */
	uint16_t (*receive)(struct port *port, struct rte_mbuf **mbufs, simtime *came_ns,
	                    uint16_t n);
	/* Returns true if packets may be left that came before the latest call of receive(). */
	bool (*is_behind)(const struct port *port);
};

struct port {
	/* constant while workers run */
	/* one of these three is set, or the port is an ethdev */
	struct paced_file *file;
	struct packet_port *packets;
	struct tap_port *tap;
	struct around_side *side;           /* whose tap it is; or NULL */
	const struct port_stamped *stamped; /* NULL: the kernel stamps nothing */
	uint16_t id;                        /* of the ethdev */
	uint16_t tx_queues;
	uint64_t speed_bps; /* speed of the wire in the scenario; 0: not given */
	bool stamps;        /* the device stamps received frames */
	simtime launch_ns;  /* hand-over this long before the time to send; 0: no such time */
	/* of the device, if `stamps` or `launch_ns` is set */
	struct port_time time;
	struct port_stamping stamping;
	/* Control writes, workers read: the link is down. Frames sent meanwhile would stay in the
	 * device and go out, stale, when the link is up again. */
	uint32_t down;
	bool one_buffer;  /* an ethdev that sends no chains of mbufs */
	uint64_t chained; /* chains that it could not send. Its workers write */
	/* control only */
	/* What was lost behind the device, of its packets: a gateway's (gateway.h). */
	uint64_t beyond_missed, beyond_not_sent;
	char name[SCENARIO_NAME_BYTES];
	char *device; /* owned */
	const char *driver;
	struct port_identity identity;
	struct interface interface;
	struct presence presence; /* of the interface */
	bool started;
	bool link_up;
};

/* Returns true if a device text means a PCI device. */
bool port_is_pci(const char *device);
/* Returns true if a port of the scenario is a PCI device. */
bool port_any_pci(const struct scenario *scenario);
/* Checks that DPDK can take every PCI device of the scenario, before anything is reserved for them.
 * Returns 0, or -errno with problem (device_text.h). */
int port_check_pci(const struct scenario *scenario, struct problem *problem);
/* Checks that DPDK has room for the devices of the scenario beside the open ones. Returns 0, or
 * -ENOSPC with problem. */
int port_check_room(const struct scenario *scenario, struct problem *problem);
/* Checks that no two ports of the scenario mean the same interface, PCI device or output. Returns
 * 0, or -errno with problem: -EINVAL, -ENOMEM. */
int port_check_distinct(const struct scenario *scenario, struct problem *problem);
/* Checks that the last of n opened ports is not the same device as one of the others, by what their
 * drivers report now. Returns 0, or -EINVAL with problem. */
int port_check_opened(const struct port *ports, uint32_t n, struct problem *problem);
/* Ethdevs that this process has made itself, and whose names begin with `prefix`, are opened as
 * they are instead of being probed: the rings between weir and a tester in one process. NULL:
 * none. */
void port_offer(const char *prefix);
/* Opens and configures a port; does not start it. Returns 0, or -errno with problem. */
int port_open(struct port *port, const struct port_conf *conf, uint16_t tx_queues,
              struct rte_mempool *pool, struct problem *problem);
/* Copies what a tap receives and sends into `frames` (tap_port.h). To be called before the port
 * starts. */
void port_watch(struct port *port, struct frame_queue *frames, uint16_t index);
/* Starts a port: packets come from now on, and a capture file counts from the present instant. If
 * `clock` is NULL, it counts from 0, and there are no time stamps. */
int port_start(struct port *port, const struct clock *clock, struct problem *problem);
/* Keeps the device's clock in step. To be called about every 100 ms. */
void port_keep_time(struct port *port, const struct clock *clock);
/* Ends what is on its way. To be called when the workers have stopped: the losses do not change any
 * more. */
void port_halt(struct port *port);
/* Gives back an interface whose packets take a detour through the port, before workers halt. */
void port_give_back(struct port *port);
/* Stops and closes a port, and leaves the device as it was found. May follow a failed port_open.
 * Returns 0, or -errno with problem, as paced_file_close. */
int port_close(struct port *port, struct problem *problem);

/* Returns true if the driver, when it is closed, does not free the mbufs in its rings: net_af_xdp
 * (DPDK 22.11 to 25.11). */
bool port_keeps_mbufs(const struct port *port);
/* Writes how an interface was opened: `interface eth1 (veth, MTU 1500), by a packet socket`; "" for
 * other ports, whose device text says it. */
void port_introduce(const struct port *port, char *text, size_t room);
/* Finds what keeps packets from the port, or lets them pass beside weir. */
void port_obstacles(const struct port *port, struct obstacles *obstacles);
/* Reads the state of the link. Returns true if it has changed. */
bool port_watch_link(struct port *port);
/* Returns a descriptor that becomes readable when a packet has come, or -1 if the port has none. */
int port_descriptor(const struct port *port);
/* Returns true if a worker that sleeps learns in time of each packet: by the descriptor, or because
 * the port knows when the next one comes (port_next). */
bool port_wakes(const struct port *port);
/* Returns the instant at which the next packet comes, or at which the port has to be asked again;
 * SIMTIME_NEVER if its descriptor tells that. Thread: the receiving worker's. */
simtime port_next(struct port *port, simtime now);
uint64_t port_link_bps(const struct port *port);
/* What a port has lost so far. */
struct port_losses {
	uint64_t missed;      /* before weir saw them */
	uint64_t no_mbuf;     /* there was no mbuf */
	uint64_t not_sent;    /* handed to the device, which reports that it could not send them */
	uint64_t not_written; /* handed to a file, and could not be written */
	uint64_t unfinished;  /* of `missed`: received in a state that weir cannot finish */
	uint64_t too_large;   /* of `not_sent`: larger than the interface takes */
	uint64_t not_ip;      /* of `not_sent`: no IP packets, on an interface for nothing else */
	uint64_t chained;     /* of `not_sent`: longer than the one mbuf that the driver sends */
	uint64_t early;       /* came before the port was started */
	uint64_t unstamped;   /* no loss: received without a time stamp of the kernel */
};
void port_losses(struct port *port, struct port_losses *losses);

static inline uint16_t port_receive(struct port *port, struct rte_mbuf **mbufs, uint16_t n,
                                    simtime now)
{
	if (unlikely(port->file != NULL))
		return paced_file_receive(port->file, mbufs, n, now);
	if (unlikely(port->packets != NULL))
		return packet_port_receive(port->packets, mbufs, NULL, n);
	if (unlikely(port->tap != NULL))
		return tap_port_receive(port->tap, mbufs, NULL, n);
	return rte_eth_rx_burst(port->id, 0, mbufs, n);
}

/* Returns true if the kernel stamps what comes to a port. */
static inline bool port_stamps(const struct port *port)
{
	return port->stamped != NULL;
}

/* Returns true if port_transmit may take fewer packets than it could, so that the lateness of each
 * is known: handing over a packet to the kernel may take long. It is then to be called again. */
static inline bool port_sends_one(const struct port *port)
{
	return port->packets != NULL || port->tap != NULL;
}

/* port_transmit() for an ethdev with `one_buffer`. */
uint16_t port_transmit_whole(struct port *port, uint16_t queue, struct rte_mbuf **mbufs,
                             uint16_t n);
/* Returns how many mbufs were taken, from the front. */
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
	if (unlikely(port->one_buffer))
		return port_transmit_whole(port, queue, mbufs, n);
	return rte_eth_tx_burst(port->id, queue, mbufs, n);
}

#endif
