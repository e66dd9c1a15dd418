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

#include <rte_mbuf.h>

#include "capture/capture.h"
#include "offline/mbuf_supply.h"
#include "offline/replay.h"
#include "offline/split.h"
#include "packet/burst.h"

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

#endif
