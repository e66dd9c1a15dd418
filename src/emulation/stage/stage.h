/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *stage* is the instance of a statement (statement.h) that treats packets in one cloud. It acts
 * at the instant of arrival, on a burst (packet/burst.h), and holds nothing.
 *
 * The statement's functions make it, ready it, let it adopt and free it. Run by the worker that
 * owns the cloud:
 *   process treats all packets of the burst, which has no gaps when it comes. Drops by cloud_drop()
 *           only, which leaves a gap; packets are added by burst_insert(), up to BURST_ROOM. Their
 *           order stays.
 *
 * Determinism: process() depends on the packets, when they came, and the stage's own state. Random
 * draws come from draw_u64(stage->key, stage->drawn + i, lane): see draw.h.
 *
 * What it may know and do of its cloud is below; the cloud itself is engine/cloud.h.
 */
#ifndef WEIR_STAGE_H
#define WEIR_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/counters.h"
#include "account/scarcity.h"
#include "packet/copy.h"
#include "packet/burst.h"
#include "random/draw.h"
#include "scenario/statement.h"

struct cloud;
struct cloud_watch;

struct stage {
	void (*process)(struct stage *stage, struct burst *burst);
	struct cloud *cloud; /* whose counters drops go to; set by the engine */
	uint64_t drawn;      /* packets seen so far: the index of the next draw */
	struct draw_key key; /* set by the engine from seed, cloud and statement */
	const struct statement *statement;
	struct cloud_watch *watch; /* that it brings for its cloud (cloud_watch.h); or NULL */
	int rank;                  /* of the statement in the table: its place in the cloud */
};

/* What it remembers: `drawn`, and what its statement says (snapshot.h). Worker. */
void stage_snapshot(struct stage *stage, struct snapshot *snapshot);

/* ---- what it knows of its cloud ---- */

/* `down`; of a cloud of a template `down/10.0.3.4`, and the template's until its first packet
 * comes. */
const char *cloud_name(const struct cloud *cloud);
/* The name of the template that it is one of, or NULL. */
const char *cloud_template_name(const struct cloud *cloud);
/* The beginning of the run, from which schedules count. */
simtime cloud_origin_ns(const struct cloud *cloud);
/* Where new mbufs come from. */
struct rte_mempool *cloud_pool(const struct cloud *cloud);
struct counters *cloud_counters(struct cloud *cloud);
/* Its i-th stage; NULL: it has no more. */
struct stage *cloud_stage(const struct cloud *cloud, uint16_t i);

/* ---- what it may do there: the worker ---- */

/* Frees packet i and counts it; there is a gap in its place. For stages, and for whatever cannot
 * hold it. */
void cloud_drop(struct cloud *cloud, struct burst *burst, uint32_t i, enum reason reason);

/* Packet i has been marked by a stage, which would have dropped it for this reason: counts it. */
void cloud_marked(struct cloud *cloud, const struct burst *burst, uint32_t i, enum reason reason);

/* Puts packet i into mbufs that nobody else sees (copy.h). False: there was no memory for a copy;
 * it was dropped, and counted. */
bool cloud_unshare(struct cloud *cloud, struct burst *burst, uint32_t i);
static inline bool cloud_writable(struct cloud *cloud, struct burst *burst, uint32_t i)
{
	return likely(copy_is_writable(burst->mbuf[i])) || cloud_unshare(cloud, burst, i);
}

/* A packet asks for memory: false, it must find none. */
bool cloud_grants_one(struct cloud *cloud, enum want want);
/* Of the packets that asked, n have found none, the first of them so many ago; of those that are
 * not numbered `ago` is 0. */
void cloud_lacked(struct cloud *cloud, enum want want, uint32_t ago, uint32_t n);

/* A copy of packet i that could not be made: counts it as made, and dropped for want of memory. */
void cloud_drop_copy(struct cloud *cloud, const struct burst *burst, uint32_t i);

/*
 * Generated packets: what a router on the path says itself, an ICMP error or a source quench. A
 * stage calls this when it decides, at the instant of the packet that is the cause, and so may a
 * link's AQM, at arrival or at departure. The cloud's statement has `generates` set (stage.h).
 *
 * The packet is a frame, in an mbuf of the holder's pool that the caller has filled in. It goes
 * back: at that very instant it leaves at the port where the packets of the cloud came in, or
 * enters the cloud that `hop ... through` names, and it takes its place there among all other
 * packets by its time; at one instant in the order in which things come about. So a cloud that
 * generates is shared, and so are all that lead to that port: change_sharing.c sees to it. `number`
 * is the cause's, and what the witness is told, with PACKET_GENERATED.
 *
 * It counts as generated and as sent by this cloud, or as dropped for want of memory. Takes the
 * mbuf.
 */
void cloud_generate(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns, uint64_t number);
/* There was no mbuf for a packet to be generated: counts it as generated and dropped. */
void cloud_generate_nothing(struct cloud *cloud, simtime t_ns, uint64_t number);

#endif
