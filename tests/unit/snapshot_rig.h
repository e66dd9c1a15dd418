/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture of the tests of snapshots: an engine with a cloud `x`, traffic for all parts that have a
 * state, and the comparison of two engines. */
#ifndef WEIR_SNAPSHOT_RIG_H
#define WEIR_SNAPSHOT_RIG_H

#include "random/draw.h"
#include "rig.h"

#define SEED   11
#define BYTES  (UINT32_C(1) << 20)
#define BEFORE 4000 /* packets up to the snapshot */
#define BEHIND 4000

/* ---- traffic ---- */

extern const struct draw_key traffic_draws;

/* Properties of all packets; a test resets them to 0. */
extern struct traffic {
	uint64_t numbers_from; /* added to each number */
	uint32_t age_ns;
} traffic;

/* Makes a frame of one of 12 flows; some have a header that queries routers, or reports their
 * answers. Returns its length. */
uint32_t traffic_make(uint8_t *frame, uint64_t number);
/* Sends the packets `from` up to, excluding, `to`, in bursts, one each 400 us on average, which
 * overloads the link. */
void traffic_come(struct rig *rig, uint64_t from, uint64_t to, simtime now);
/* The same, then waits until all have left. */
void traffic_play(struct rig *rig, uint64_t from, uint64_t to, simtime now);

/* ---- engines ---- */

/* Returns the i-th of the scenarios whose stages, managements and schedules have a state, or NULL
 * if there are no more. Every statement with a `snapshot` is in one: by its example, if in no
 * other. Valid until the next call. */
const char *remembering(size_t i);

/* Returns a rig with these statements of the cloud in force. */
struct rig *engine_open(const char *words);
struct cloud *cloud_of(const struct rig *rig);
/* Asserts that the other rig's departures are those of `rig` after its first `from`, at the same
 * instants. */
void assert_same_departures(const struct rig *rig, uint32_t from, const struct rig *other,
                            const char *words);

#endif
