/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fates (account/witness.h), with the beginnings of their frames, on their way from the workers of
 * a live weir to another process, which takes them out of memory that both have mapped.
 *
 * Who reads makes the memory and pays for it: a memfd of which all pages are there, and whose size
 * is sealed, so that no access of a worker to it can fail. weir seals it against later writers, too
 * (F_SEAL_FUTURE_WRITE): then nobody can punch a hole into it either, of which the pages would be
 * weir's. A worker writes to a ring of its own, and decides by nothing there but how far the reader
 * has come, which it checks: whatever a reader does, it harms nobody but itself. A fate for which
 * there is no room is counted by its kind, and no packet waits.
 *
 * Thread: put: the worker whose ring it is. Everything else control's.
 */
#ifndef WEIR_FATE_RING_H
#define WEIR_FATE_RING_H

#include "capture/fate_layout.h"
#include "scenario/problem.h"

struct fate_ring {
	struct fate_ring_state *state;
	uint8_t *data;
	uint64_t bytes;
	uint64_t written;
	uint64_t taken; /* as it was seen last */
};

/* Puts n rings into the memory, which is at `fd`. 0, or -EINVAL with problem: it is no such memory;
 * or another -errno with problem. Maps it at *memory, of so many bytes, and seals it. */
int fate_memory_take(int fd, uint32_t n, struct fate_ring *rings, void **memory, size_t *bytes,
                     struct problem *problem);
/* What it says of the run; then it is ready. */
void fate_memory_begin(void *memory, const struct scenario *scenario, int64_t wall_ns);
void fate_memory_settle(void *memory, simtime settled_ns);
void fate_memory_leave(void *memory, size_t bytes);

/* With `snap` bytes of the frame at most. `poll_ns`: all that happens before it has been put, or is
 * put in this poll. */
void fate_ring_put(struct fate_ring *ring, const struct fate *fate, uint32_t snap, simtime poll_ns);

#endif
