/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries fates (account/witness.h), with the beginnings of their frames, from the workers of a
 * live weir to another process, in memory that both have mapped.
 *
 * The reading process allocates the memory, so its cost is charged to that process. The memory is a
 * memfd whose pages are all present and whose size is sealed, so no access of a worker to it can
 * fail. weir also seals it against later writers (F_SEAL_FUTURE_WRITE). Otherwise a process could
 * punch a hole into it, and the new pages would be charged to weir.
 *
 * A worker writes to a ring of its own. It reads there only how far the reader has come, and checks
 * that. So a reader can harm nobody but itself. If there is no room for a fate, it is counted by
 * its kind, and no packet waits.
 *
 * Thread: put: the worker that owns the ring. Everything else: control.
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
	uint64_t taken; /* as last read from the state */
};

/* Puts n rings into the memory at `fd`, maps it at *memory, with *bytes bytes, and seals it.
 * Returns 0, or -errno with problem: -EINVAL if the memory is not as described above. */
int fate_memory_take(int fd, uint32_t n, struct fate_ring *rings, void **memory, size_t *bytes,
                     struct problem *problem);
/* Writes what the memory says of the run, and marks it as ready. */
void fate_memory_begin(void *memory, const struct scenario *scenario, int64_t wall_ns);
void fate_memory_settle(void *memory, simtime settled_ns);
void fate_memory_leave(void *memory, size_t bytes);

/* Puts a fate, with `snap` bytes of its frame at most. `poll_ns` is the instant of the worker's
 * poll: what happens before it has been put, or is put in this poll. */
void fate_ring_put(struct fate_ring *ring, const struct fate *fate, uint32_t snap, simtime poll_ns);

#endif
