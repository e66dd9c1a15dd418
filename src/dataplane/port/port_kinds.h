/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of ports beside taps (tap_port.h): ethdevs, kernel interfaces, and captures that are
 * played. Private to port.
 *
 * A kernel interface as a port, by a packet socket: `interface:eth1`, or just `eth1`.
 *
 * net_af_packet passes on what the kernel hands over: unfinished checksums, and super-frames cut to
 * the size of an mbuf. This port asks the kernel what is left to do of each frame (PACKET_VNET_HDR)
 * and does it (super_frame.h), restores the VLAN tag that the kernel has taken out
 * (PACKET_AUXDATA), and takes frames of any length. Frames to be sent are joined where that cannot
 * be observed (super_frame.h).
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
#ifndef WEIR_PORT_KINDS_H
#define WEIR_PORT_KINDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "machine/clock.h"
#include "port/interface.h"
#include "scenario/problem.h"
#include "simtime.h"

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

/*
 * The text of a port that plays a capture:
 * `file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]`.
 *
 * Thread: any.
 */

struct paced_device {
	char path[PATH_MAX], out_path[PATH_MAX]; /* "": nothing is played; nothing is written */
	bool loop;
	char *interface;    /* NULL: all interfaces */
	uint64_t speed_ppm; /* millionths */
};

/* Parses the text, and finds the capture: a relative PATH in `folder` first (NULL, or ending with a
 * slash), then in the working directory; in the folder of a recording, what came in. Returns 0, or
 * -errno with problem. Call paced_device_free in any case. */
int paced_device_parse(const char *text, const char *folder, struct paced_device *device,
                       struct problem *problem);
void paced_device_free(struct paced_device *device);

/*
 * A capture file as a live port: `file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]`.
 *
 * On reception the port plays the capture PATH or, if PATH is the folder of a recording, what came
 * in during that recording (record/recording.h). Its first frame comes when the port starts, each
 * further frame as much later as its time stamp says, divided by `speed`; with `loop` it starts
 * over at the end, one last gap later. With `interface`, only the frames of a pcapng that were seen
 * at the interface of that name are played; the start of the port then corresponds to the first
 * packet of all interfaces, so that what several ports play from one file stays in step. Without
 * PATH (`file:,out=PATH`) nothing is received. What is sent to the port is counted and discarded,
 * or written to the capture of `out`, with the instants at which it was due, on the time axis of
 * the capture that is played (of real time, if none is, or if a pipe gives no frame in the first
 * 100 ms).
 *
 * One thread reads, another one writes; they exchange frames with the worker over two rings, so the
 * worker never waits for a disk, and a pipe that falls silent does not hold up the output. If the
 * disk cannot keep up, frames come late, and what is sent is refused, as by a device: it is lost
 * 100 ms later. If the disk is full, an event reports that, lost frames are counted, and what was
 * written is kept (dump.h).
 *
 * Ownership: mbufs of the pool lie in the rings, PACED_FILE_MBUFS at most.
 */

#define PACED_FILE_RING  1024
#define PACED_FILE_MBUFS (2 * PACED_FILE_RING + 64)

struct paced_file;

/* Opens the files. A relative PATH is searched in `folder` first (NULL, or ending with a slash),
 * then in the working directory; the PATH of `out` is relative to the working directory. Returns 0,
 * or -errno with problem: no such file, no capture, the output cannot be made. */
int paced_file_open(const char *device, const char *folder, struct rte_mempool *pool,
                    struct paced_file **file, struct problem *problem);
/* Checks that the text is right, and the file can be read. Returns 0, or -errno with problem. */
int paced_file_check(const char *device, const char *folder, struct problem *problem);
int paced_file_start(struct paced_file *file, simtime now, struct problem *problem);
/* Ends playing, even if a pipe is silent. Ends sending: writes what is on its way; a pipe that
 * nobody reads holds it up for a second at most. From now on the count of frames not written
 * stays. */
void paced_file_halt(struct paced_file *file);
/* Halts, and frees. Returns 0, or an error with problem, as recorder_close: -EIO if frames are
 * missing in the output. A file that was never started leaves no output. */
int paced_file_close(struct paced_file *file, struct problem *problem);

/* Returns the instant of the next frame. If the reader has not read that yet, returns an instant
 * shortly after `now`; SIMTIME_NEVER if there is none. Thread: the receiving worker's. */
simtime paced_file_next(struct paced_file *file, simtime now);
uint16_t paced_file_receive(struct paced_file *file, struct rte_mbuf **mbufs, uint16_t n,
                            simtime now);
uint16_t paced_file_transmit(struct paced_file *file, struct rte_mbuf **mbufs,
                             const simtime *due_ns, uint16_t n);

/* Returns true, with a line about it, once for each event: the next frame does not come for ten
 * seconds or longer, the capture has come to its end, the output cannot be written, it can be
 * written again. */
bool paced_file_event(struct paced_file *file, char *line, size_t room);
/* Returns the frames that were sent to the port and could not be written. */
uint64_t paced_file_not_written(const struct paced_file *file);

/*
 * A device of DPDK as a port.
 *
 * Thread: control.
 */

struct port;

/* Finds the device, or makes it, and configures it. Returns 0, or -errno with problem. */
int ethdev_open(struct port *port, uint16_t tx_queues, struct rte_mempool *pool,
                struct problem *problem);
int ethdev_start(struct port *port, const struct clock *clock, struct problem *problem);
void ethdev_close(struct port *port);

/* Return true if a device text means a capture; an interface of the kernel, which an ethdev that
 * this process has made (port_offer) is not, whatever its name. */
bool port_text_is_file(const char *device);
bool port_text_is_interface(const char *device);
/* Returns true if the port is to have the clock of its device. */
bool port_keeps_time(const struct port *port);

#endif
