/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures of a replay as one stream of packets, merged in the order of time. The port of each
 * packet follows from its capture or from the split rule.
 *
 * Ownership: the mbufs handed out are the caller's. The mempool is the intake's.
 * Thread: one.
 */
#ifndef WEIR_INTAKE_H
#define WEIR_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "capture/capture.h"
#include "offline/offline_pool.h"
#include "offline/replay.h"
#include "packet/burst.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

/*
 * Splits one capture that holds both directions of a link, by the side from which each frame came.
 *
 *   mac=02:00:00:00:00:0a   the source address of the frame
 *   ip=10.77.0.0/24         the source address of the IPv4 or IPv6 packet (or the sender of an ARP
 *   ip=2001:db8::/32        request or answer); without /LENGTH exactly this address
 *   port=5201               the source port of TCP, UDP, UDP-Lite, DCCP or SCTP
 *   first                   the source MAC address of the first frame in the capture that has one
 *
 * Frames that match come in at the first port of `--in A,B=PCAP`, all others at the second: those
 * that do not match, and those without the field of the rule (with `port`: ARP, ICMP, and the later
 * fragments of a datagram). Up to four VLAN tags are skipped, and IPv6 extension headers.
 *
 * Thread: one at a time. With `first`, split_matches stores the address of the first frame.
 */

enum split_kind { SPLIT_MAC, SPLIT_IP, SPLIT_PORT, SPLIT_FIRST };

struct split {
	enum split_kind kind;
	bool mac_known;
	uint8_t mac[6];
	uint8_t address_bytes; /* 4 or 16 */
	uint8_t prefix_bits;
	uint8_t address[16];
	uint16_t port;
};

/* Returns 0, or -EINVAL with problem. */
int split_parse(const char *rule, struct split *split, struct problem *problem);
/* Returns true if the frame, of which `bytes` were captured (0 is allowed), comes in at the first
 * port. */
bool split_matches(struct split *split, const uint8_t *data, uint32_t bytes);
/* Does the same for a frame of another link than Ethernet, for mac=... or first: `mac` is the
 * address of its sender. */
bool split_matches_sender(struct split *split, const uint8_t mac[6]);

struct intake {
	const struct replay_options *options;
	struct link_layer *link_layer; /* for all captures */
	struct capture *captures[REPLAY_FILES_MAX];
	struct split splits[REPLAY_FILES_MAX];       /* one for each capture, because `first` keeps
	                                        * state */
	uint64_t split_packets[REPLAY_FILES_MAX][2]; /* as in struct replay_split */
	struct capture_merge merge;
	struct mbuf_supply supply;
	struct rte_mempool *pool; /* the supply's */
	uint64_t numbers[SCENARIO_PORTS_MAX];
	const struct capture_frame *ahead; /* the next frame */
	uint32_t ahead_from, ahead_port;   /* its capture, and its port of arrival */
};

/* Opens every capture. `io_thread` reads ahead; NULL: the caller reads. Returns 0; -EINVAL with
 * problem; or -ENOMEM with problem. `intake` is all zero before. */
int intake_open(struct intake *intake, const struct replay_options *options, uint32_t n_ports,
                struct io_thread *io_thread, struct problem *problem);
/* Returns the spare mbufs and closes the captures, but keeps the mempool. May be called twice. */
void intake_close(struct intake *intake);
/* Frees the mempool, and the link layer, which outputs need until then. */
void intake_free(struct intake *intake);

/* Returns the instant of the next packet, SIMTIME_NEVER at the end. */
simtime intake_next_ns(const struct intake *intake);
/* Fills the burst with the next packets, n at most, as long as they come in at one port. Returns
 * how many (0 at the end), or -ENOMEM with problem. */
int intake_read(struct intake *intake, struct burst *burst, uint32_t n, struct problem *problem);

/* Returns 0; -EIO with problem if a read has failed, so that packets are missing; or -EINVAL with
 * problem if what was read so far shows that a capture cannot be replayed. */
int intake_check(const struct intake *intake, struct problem *problem);
/* Adds the counters of the captures and of the split to the reports of their ports. */
void intake_report(const struct intake *intake, struct replay_result *result);
uint64_t intake_done_bytes(const struct intake *intake);
uint64_t intake_all_bytes(const struct intake *intake);

/*
 * Checks whether a scenario needs link-layer addresses, which captures without Ethernet do not have
 * (capture/link_layer.h). These need them: a filter behind `match` (`ether host`, `ether[0]`,
 * `multicast` of Ethernet), of a cloud or a class, and a rule of `rewrite` that reads or writes
 * addresses; also if a schedule brings them.
 *
 * Thread: any; a pure function.
 */

/* Returns 0; -EINVAL with problem, which names the cloud, the words and what to use instead; or
 * -ENOMEM. `what` names the captures in the message. */
int link_fields_check(const struct scenario *scenario, const char *what, struct problem *problem);

#endif
