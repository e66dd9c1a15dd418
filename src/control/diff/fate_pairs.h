/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fates of one packet in two runs that go side by side, whichever decides first, and in
 * whatever order each decides.
 *
 * A fate waits until its partner comes. At most `room` wait: then the one that has waited longest
 * has none, and is added as such. So memory is bounded, however long the runs are.
 *
 * Ownership: fate_pairs_free frees it. Thread: one.
 */
#ifndef WEIR_FATE_PAIRS_H
#define WEIR_FATE_PAIRS_H

#include "diff/fate_differences.h"

#define FATE_PAIRS_ROOM (1u << 20)

struct fate_pairs;

/* `room`: a power of two. NULL: no memory. `differences` must outlive it. */
struct fate_pairs *fate_pairs_make(uint32_t room, struct fate_differences *differences);
/* Of the first run (0) or the second (1). */
void fate_pairs_put(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *seen);
/* No more will come: those that wait have no partner. How many had to go before. */
uint64_t fate_pairs_end(struct fate_pairs *pairs);
void fate_pairs_free(struct fate_pairs *pairs); /* NULL is allowed */

#endif
