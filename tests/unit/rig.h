/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of the engine's tests: mempools that poison what is freed (poison_ops.h), an engine,
 * its scenario, and a record of what left it.
 *
 *   struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
 *   rig_cloud(rig, "x", 0, 1);
 *   rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
 *   rig_apply(rig, 0);
 *   rig_send(rig, 0, 100, 5);
 *   rig_advance(rig, 10 * SIMTIME_MS + 5);
 *   ... rig->departures[0] ...
 *   rig_close(rig);
 *
 * Every step asserts conservation, of each cloud and of the whole; rig_close asserts that every
 * mbuf is back and no chunk of memory is in use.
 *
 * The bytes of a packet are a function of its number and length; each departure is compared with
 * them, byte by byte. With `hosts`, seven of eight packets have headers, from 192.0.2.1 and
 * following to 198.51.100.1 and following.
 */
#ifndef WEIR_RIG_H
#define WEIR_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account/witness.h"
#include "engine/engine.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/rate.h"
#include "loss/loss_every.h"
#include "loss/loss_random.h"
#include "poison_ops.h"
#include "statements.h"

#define RIG_PORTS        8
#define RIG_MBUFS        4096
#define RIG_MEMORY       (UINT64_C(32) << 20)
#define RIG_DATA_ROOM    (2048 + RTE_PKTMBUF_HEADROOM)
#define RIG_FOREIGN_ROOM (10240 + RTE_PKTMBUF_HEADROOM)

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct rig_setup {
	uint64_t seed;
	size_t memory_bytes; /* 0: RIG_MEMORY */
	uint32_t copy_bytes_max;
	struct witness *witness;
	simtime *lacked_ns;                        /* as in engine_setup */
	const struct statement *const *statements; /* NULL: all statements */
	uint32_t kept_mbufs_max;                   /* as in engine_setup */
	bool live;                                 /* likewise */
	bool clouds_on_demand;                     /* likewise */
	const struct classifier_filters *filters;  /* NULL: the rig's own (rig_match) */
	uint32_t hosts; /* most packets are UDP between so many addresses; 0: no headers */
};

struct departure {
	simtime due_ns;
	uint64_t number; /* 0: the frame is too short for it */
	uint32_t port;
	uint32_t wire_bytes;
	uint32_t frame_bytes;
	uint32_t digest;         /* of the frame's bytes */
	bool intact;             /* the bytes are unchanged */
	uint32_t unchanged_from; /* the bytes from this offset on are unchanged */
	bool named;              /* outlet_is_named */
};

struct rig {
	void (*make_room)(struct rig *rig); /* takes what has left; NULL: rig_collect */
	struct engine *engine;
	struct scenario *scenario; /* the test may change it between two rig_apply */
	struct rte_mempool *pool, *foreign;
	void *memory;
	size_t memory_bytes;
	uint32_t hosts;
	uint64_t sent;                         /* packets, of all ports */
	uint64_t received[SCENARIO_PORTS_MAX]; /* received by rig_receive */
	uint64_t dropped; /* by clouds that are gone, less what they generated and duplicated */
	uint64_t cleared; /* by engine_clear: no longer in the counters */
	simtime now;      /* the latest instant passed to the engine */
	uint32_t room, n_departures;
	struct departure *departures;
	uint32_t n_shared;
	struct rte_mbuf *shared[4096]; /* the RIG_SHARED packets, by their other owner's pointer */
};

/* How the mbuf of a packet is made. */
enum rig_shape {
	RIG_PLAIN,     /* one mbuf, or several if it is too long for one */
	RIG_SEGMENTED, /* three segments, if it has three bytes */
	RIG_SHARED,    /* the rig holds another reference until rig_close */
	RIG_FOREIGN,   /* of another mempool, in one segment whatever its length */
	RIG_CLONED,    /* an indirect mbuf attached to another one */
	RIG_SHAPES
};

/* CMocka group fixtures: the mempools. No EAL. */
int rig_group_setup(void **state);
int rig_group_teardown(void **state);

struct rig *rig_open(const struct rig_setup *setup);
void rig_close(struct rig *rig);

/* ---- the scenario ---- */
void rig_cloud(struct rig *rig, const char *name, uint32_t from, uint32_t to);
/* A cloud that comes from another cloud. */
void rig_chain(struct rig *rig, const char *name, const char *from, uint32_t to);
/* Sets which packets the cloud takes. The rig has filters of its own: `K of N` fits if the first
 * byte of the frame, the low byte of its number, modulo N is K. */
void rig_match(struct rig *rig, const char *name, const char *match, uint64_t priority);
void rig_remove(struct rig *rig, const char *name);
void rig_delay(struct rig *rig, const char *cloud, uint64_t delay_ns, uint64_t jitter_ns,
               enum delay_distribution distribution, enum delay_order order);
/* burst_bytes 0: a leaky bucket. */
void rig_rate(struct rig *rig, const char *cloud, uint64_t rate_bps, uint64_t burst_bytes,
              enum limit_unit unit, uint64_t limit);
void rig_loss(struct rig *rig, const char *cloud, probability_q63 probability);
void rig_loss_every(struct rig *rig, const char *cloud, uint64_t every, uint64_t burst);
/* Puts any statement; takes ownership of it. */
void rig_put(struct rig *rig, const char *cloud, struct conf *conf);
void rig_unset(struct rig *rig, const char *cloud, const char *statement);
/* change_prepare, engine_apply, change_free; asserts that all succeed. */
void rig_apply(struct rig *rig, simtime now);

/* ---- traffic ---- */
/* Returns the mbuf of a packet that arrives at `port` at `t`; wire_bytes 0: as long as the
 * frame. */
struct rte_mbuf *rig_packet(struct rig *rig, enum rig_shape shape, uint32_t port, uint64_t number,
                            uint32_t frame_bytes, uint32_t wire_bytes, simtime t);
/* Hands packets to the engine as a burst made from their struct packet; n may be 0. */
void rig_hand_over(struct engine *engine, struct rte_mbuf *const *mbufs, uint16_t n);
/* Receives packets as a live burst of one instant. Their struct packet is not read. */
void rig_receive(struct rig *rig, uint32_t port, struct rte_mbuf **mbufs, uint16_t n, simtime now);
/* Sends one packet, numbered rig->sent + 1. */
void rig_send(struct rig *rig, uint32_t port, uint32_t frame_bytes, simtime t);
void rig_ingress(struct rig *rig, struct rte_mbuf **mbufs, uint16_t n);
/* Calls engine_advance as often as outlets fill up, and records what leaves. */
void rig_advance(struct rig *rig, simtime now);
/* Advances from event to event until nothing is held. Asserts that it makes progress. */
void rig_run_out(struct rig *rig);
/* Moves what lies in the outlets into `departures`. */
void rig_collect(struct rig *rig);

/* ---- accounting ---- */
void rig_check(struct rig *rig);
struct cloud_report *rig_report(struct rig *rig, const char *cloud); /* valid until the next call */

#endif
