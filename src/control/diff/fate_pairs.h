/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs the fates of a packet in two runs that go side by side, in whatever order the runs decide.
 *
 * A fate waits until its partner comes. At most `room` fates wait: if another one comes, the one
 * that has waited longest is added without a partner. So memory is bounded, however long the runs
 * are.
 *
 * Ownership: fate_pairs_free frees it.
 * Thread: one.
 */
#ifndef WEIR_FATE_PAIRS_H
#define WEIR_FATE_PAIRS_H

#include "diff/fate_differences.h"

#define FATE_PAIRS_ROOM (1u << 20)

struct fate_pairs;

/* `room` is a power of two. `differences` must outlive the pairs. Returns NULL if there is no
 * memory. */
struct fate_pairs *fate_pairs_make(uint32_t room, struct fate_differences *differences);
/* Takes a fate of the first run (0) or the second (1). */
void fate_pairs_put(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *seen);
/* Ends both runs: fates that still wait have no partner. Returns how many had to be given up
 * before. */
uint64_t fate_pairs_end(struct fate_pairs *pairs);
void fate_pairs_free(struct fate_pairs *pairs); /* NULL is allowed */

#endif
