/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *stage* is the instance of a statement (statement.h) that acts on packets in one cloud. It acts
 * at the instant of arrival, on a burst (packet/burst.h), and holds nothing.
 *
 * The statement's functions make it, ready it, let it adopt and free it. The worker that owns the
 * cloud runs:
 *   process acts on all packets of the burst, which has no gaps on entry. Drops only by
 *           cloud_drop(), which leaves a gap; adds packets by burst_insert(), up to BURST_ROOM.
 *           Keeps their order.
 *
 * Determinism: process() depends on the packets, their instants of arrival, and the stage's own
 * state. Random draws come from draws_place() and draws_burst(): see draws.h.
 *
 * The functions by which a stage reads and affects its cloud are below; the cloud itself is in
 * engine/cloud.h.
 */
#ifndef WEIR_STAGE_H
#define WEIR_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/counters.h"
#include "match/keyed.h"
#include "packet/copy.h"
#include "packet/burst.h"
#include "random/draw.h"
#include "scenario/statement.h"

struct cloud;
struct cloud_watch;
struct tally;

struct stage {
	void (*process)(struct stage *stage, struct burst *burst);
	struct cloud *cloud; /* counts its drops; set by the engine */
	uint64_t drawn;      /* packets seen so far: the index of the next draw */
	struct draw_key key; /* set by the engine from seed, cloud and statement */
	enum keyed keyed;    /* as its configuration says (draws.h); set by the engine */
	const struct statement *statement;
	struct tally *tally;       /* of its configuration, held; NULL: none */
	struct cloud_watch *watch; /* that it brings for its cloud (cloud_watch.h); or NULL */
	int rank;                  /* of the statement in the table; its place in the cloud */
};

/* Frees the stage, and releases its tally. Thread: control. */
void stage_free(struct stage *stage);
/* Writes or reads what the stage remembers: `drawn`, and what its statement adds (snapshot.h).
 * Thread: worker. */
void stage_snapshot(struct stage *stage, struct snapshot *snapshot);

/* ---- what a stage may read of its cloud ---- */

/* Returns the name of the cloud, such as `down`. A cloud of a template has a name such as
 * `down/10.0.3.4`; until its first packet arrives, it has the template's. */
const char *cloud_name(const struct cloud *cloud);
/* Returns the name of the template that the cloud belongs to, or NULL. */
const char *cloud_template_name(const struct cloud *cloud);
/* Returns the beginning of the run, from which schedules count. */
simtime cloud_origin_ns(const struct cloud *cloud);
/* Returns the pool of new mbufs. */
struct rte_mempool *cloud_pool(const struct cloud *cloud);
struct counters *cloud_counters(struct cloud *cloud);
/* Returns the i-th stage of the cloud, or NULL if it has no more. */
struct stage *cloud_stage(const struct cloud *cloud, uint16_t i);

/* ---- what it may do there: the worker ---- */

/* Frees packet i and counts it, leaving a gap in its place. For stages, and for any other code that
 * cannot hold the packet. With REASON_NO_BUFFER, which is no emulated loss, a recording of the run
 * can be repeated up to this packet only (engine.h, lacked_ns). */
void cloud_drop(struct cloud *cloud, struct burst *burst, uint32_t i, enum reason reason);

/* Counts packet i as marked by a stage, which would have dropped it for this reason. */
void cloud_marked(struct cloud *cloud, const struct burst *burst, uint32_t i, enum reason reason);

/* Puts packet i into mbufs that are not shared (copy.h). Returns false if there was no memory for a
 * copy; then the packet was dropped, and counted. A stage asks cloud_writable() before it writes
 * into a packet, and calls burst_headers_forget() if it may have written into headers. */
bool cloud_unshare(struct cloud *cloud, struct burst *burst, uint32_t i);
static inline bool cloud_writable(struct cloud *cloud, struct burst *burst, uint32_t i)
{
	return likely(copy_is_writable(burst->mbuf[i])) || cloud_unshare(cloud, burst, i);
}

/* Counts a copy of packet i that could not be made as made, and as dropped for want of memory. */
void cloud_drop_copy(struct cloud *cloud, const struct burst *burst, uint32_t i);

/*
 * Sends a packet that a router on the path generates itself, such as an ICMP error or a source
 * quench. A stage calls this when it decides, at the instant of the packet that is the cause; so
 * may a link's AQM, at arrival or at departure. The cloud's statement has `generates` set
 * (statement.h).
 *
 * The packet is a frame in an mbuf of the holder's pool, filled in by the caller. It goes back: at
 * that very instant it leaves at the port where the packets of the cloud came in, or enters the
 * cloud that `hop ... through` names. There it is ordered among all other packets by its time; at
 * one instant, in the order in which events are caused. So a cloud that generates is shared, and so
 * are all clouds that lead to that port: change_sharing.c ensures this. `number` is the number of
 * the cause; the witness gets it, with PACKET_GENERATED.
 *
 * The packet counts as generated and as sent by this cloud, or as dropped for want of memory. Takes
 * ownership of the mbuf.
 */
void cloud_generate(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns, uint64_t number);
/* Counts a packet for which there was no mbuf as generated and dropped. */
void cloud_generate_nothing(struct cloud *cloud, simtime t_ns, uint64_t number);

#endif
