/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures of a replay as one stream of packets: merged in the order of time, each at the port
 * that its capture or the split rule says.
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
	struct link_layer *link_layer; /* of all captures */
	struct capture *captures[REPLAY_FILES_MAX];
	struct split splits[REPLAY_FILES_MAX]; /* `first` remembers, so each capture has its own */
	uint64_t split_packets[REPLAY_FILES_MAX][2]; /* struct replay_split */
	struct capture_merge merge;
	struct mbuf_supply supply;
	struct rte_mempool *pool; /* the supply's */
	uint64_t numbers[SCENARIO_PORTS_MAX];
	const struct capture_frame *ahead; /* the next frame */
	uint32_t ahead_from, ahead_port;   /* its capture, and where it comes in */
};

/* Opens every capture; `io_thread` reads ahead, or NULL. 0; -EINVAL with problem; -ENOMEM. `intake`
 * is all zero before. */
int intake_open(struct intake *intake, const struct replay_options *options, uint32_t n_ports,
                struct io_thread *io_thread, struct problem *problem);
/* Returns the spare mbufs and closes the captures, not the mempool; may be called twice. */
void intake_close(struct intake *intake);
/* The mempool, and what outputs need of the captures. */
void intake_free(struct intake *intake);

/* The instant of the next packet, or SIMTIME_NEVER at the end. */
simtime intake_next_ns(const struct intake *intake);
/* The next packets, n at most, as far as they come in at one port. How many (0: the end), or
 * -ENOMEM with problem. */
int intake_read(struct intake *intake, struct burst *burst, uint32_t n, struct problem *problem);

/* 0, or -EIO with problem: a read has failed, so that not everything came in. */
int intake_check(const struct intake *intake, struct problem *problem);
/* Adds the counters of the captures to the reports of their ports, and the numbers of the split. */
void intake_report(const struct intake *intake, struct replay_result *result);
uint64_t intake_done_bytes(const struct intake *intake);
uint64_t intake_all_bytes(const struct intake *intake);

#endif
