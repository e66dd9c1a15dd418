/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of snapshots: an engine with a cloud `x`, traffic that meets all that remembers, and
 * two engines that are compared. */
#ifndef WEIR_SNAPSHOT_RIG_H
#define WEIR_SNAPSHOT_RIG_H

#include "random/draw.h"
#include "rig.h"

#define SEED   11
#define BYTES  (UINT32_C(1) << 20)
#define BEFORE 4000 /* packets, until the snapshot */
#define BEHIND 4000

/* ---- traffic ---- */

extern const struct draw_key traffic_draws;

/* What all packets that come have; a test sets it back to 0. */
extern struct traffic {
	uint64_t numbers_from; /* what is added to a number */
	uint32_t age_ns;
} traffic;

/* Of 12 flows, some with a header that asks routers, or tells what they have said. Returns its
 * length. */
uint32_t traffic_make(uint8_t *frame, uint64_t number);
/* Packets `from` to before `to`, in bursts, 400 us a packet on average: the link has too many. */
void traffic_come(struct rig *rig, uint64_t from, uint64_t to, simtime now);
/* The same, until all have left. */
void traffic_play(struct rig *rig, uint64_t from, uint64_t to, simtime now);

/* ---- engines ---- */

/* Scenarios whose stages, managements and schedules remember something. */
extern const char *const remembering[];
extern const size_t n_remembering;

/* With these words in force for the cloud. */
struct rig *engine_open(const char *words);
struct cloud *cloud_of(const struct rig *rig);
/* What has left `rig` behind its first `from` packets has left the other, at the same instants. */
void assert_same_departures(const struct rig *rig, uint32_t from, const struct rig *other,
                            const char *words);

#endif
