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

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "account/witness.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

/*
 * The memory in which fates (account/witness.h) go from the workers of a live weir to
 * another process: `struct fate_memory`, then for each worker a `struct
 * fate_ring_state` and its ring. All rings have the same size. A record does not wrap around the
 * end of its ring: padding fills the end. Numbers are in the byte order of this machine.
 */

#define FATE_MEMORY_MIN (UINT64_C(1) << 20)
#define FATE_MEMORY_MAX (UINT64_C(1) << 30)
#define FATE_RINGS_MAX  128
/* A longer frame is truncated. */
#define FATE_SNAP_MAX 65535

/* Each new reason makes another format: a record has the number of its reason, or REASON_COUNT. */
#define FATE_MAGIC   "weirfate"
#define FATE_VERSION (3u + 256u * (REASON_COUNT - REASONS_AT_FIRST))
#define FATE_SEALS   (F_SEAL_SHRINK | F_SEAL_GROW)
#define FATE_PAGE    4096u
#define FATE_PADDING UINT32_MAX
#define FATE_ALIGN   8u

struct fate_memory {
	char magic[8];
	uint32_t version;
	uint32_t n_rings;
	uint64_t ring_bytes; /* of each, without its state */
	simtime settled_ns;  /* all workers have put everything that happened before */
	int64_t wall_ns;     /* difference from the instants of fates to instants since 1970 */
	uint32_t n_ports;
	char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];
};

struct fate_ring_state {
	uint64_t written __attribute__((aligned(64))); /* bytes so far; by the worker */
	uint64_t missed[FATE_KINDS];                   /* fates, by kind; by the worker */
	uint64_t taken __attribute__((aligned(64)));   /* bytes so far; by the reader */
};

/* Followed by the names of the cloud and the stage, each ended by a 0, and by the frame. The whole
 * is padded to a multiple of FATE_ALIGN. */
struct fate_record {
	uint32_t bytes; /* of the whole record */
	uint32_t kind;  /* or FATE_PADDING, which has only these first two words */
	uint64_t packet;
	simtime at_ns, t_in_ns, t_out_ns, entered_ns, poll_ns;
	uint64_t queue_bytes, queue_average_bytes;
	uint64_t missed;
	uint32_t wire_bytes, frame_bytes;
	uint16_t port, to_port;
	uint8_t reason, flags, changed;
	uint8_t cloud_bytes, stage_bytes; /* with the 0; 0: no name */
	uint8_t reserved[7];
	char names[];
};

_Static_assert(sizeof(struct fate_record) % FATE_ALIGN == 0, "records lie one behind the other");
_Static_assert(offsetof(struct fate_ring_state, taken) == 64 * 2 ||
                       offsetof(struct fate_ring_state, taken) == 64,
               "the reader has a cache line of its own");

/* The positions of the rings depend only on the size of the memory and the number of rings. */
static inline size_t fate_head_bytes(void)
{
	return RTE_ALIGN_CEIL(sizeof(struct fate_memory), (size_t)FATE_PAGE);
}

static inline uint64_t fate_ring_bytes(size_t bytes, uint32_t n)
{
	uint64_t each = (bytes - fate_head_bytes()) / n;

	each = RTE_ALIGN_FLOOR(each, (uint64_t)FATE_PAGE);
	return each > sizeof(struct fate_ring_state)
	               ? RTE_ALIGN_FLOOR(each - sizeof(struct fate_ring_state),
	                                 (uint64_t)FATE_ALIGN)
	               : 0;
}

static inline uint8_t *fate_ring_at(void *memory, uint64_t ring_bytes, uint32_t ring)
{
	uint64_t each =
	        RTE_ALIGN_CEIL(ring_bytes + sizeof(struct fate_ring_state), (uint64_t)FATE_PAGE);

	return (uint8_t *)memory + fate_head_bytes() + ring * each;
}

/*
 * The bytes of the frame in a fate (account/witness.h) as one piece: its first segment, then its
 * further segments.
 *
 * Thread: pure functions, any.
 */

/* Returns the length of the frame, `most` at most. */
uint32_t fate_frame_bytes(const struct fate_frame *frame, uint32_t most);
/* Copies the first `bytes` of the frame. `bytes` is at most what fate_frame_bytes returns. */
void fate_frame_copy(uint8_t *to, const struct fate_frame *frame, uint32_t bytes);

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

/*
 * The reader: the process that looks at a live weir, and takes fates out of
 * memory that it has made and shares with the workers. Any word of the memory may change between
 * two reads. The reader therefore copies what it checks, so no writer can harm it.
 *
 * Thread: one at a time.
 */

/* Makes a memfd of `bytes` bytes and maps it at *memory. Returns the descriptor, or -errno. */
int fate_reader_make(size_t bytes, void **memory);

struct fate_taken {
	struct fate fate;
	uint64_t missed; /* fates of its kind and ring that were missed before it, in all */
	simtime poll_ns;
	char names[2 * UINT8_MAX]; /* of its cloud and stage */
	struct fate_ring_state *ring;
	uint64_t after; /* position of the next fate */
};

/* Returns true and the oldest fate of a ring. Its frame is valid until fate_reader_pass. Returns
 * false if there is none, or if the ring contains no valid record; then *broken is true. */
bool fate_reader_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken);
void fate_reader_pass(const struct fate_taken *taken);
simtime fate_reader_settled(const void *memory);
/* Says why nothing could be read: another version of weir wrote it, or it is damaged. */
void fate_reader_why(const void *memory, struct problem *problem);
/* Takes fates, in the order of their ring; what they point to is valid until it returns. */
typedef void fate_reader_take(void *argument, const struct fate *const fates[], uint32_t n);
/* Passes on the fates that are there now, FATE_READER_AT_ONCE at a time at most, and of each ring
 * FATE_READER_MOST at most. Returns their number, or -EPROTO if a ring has no valid record. */
#define FATE_READER_AT_ONCE 32
#define FATE_READER_MOST    16384
int fate_reader_empty(void *memory, size_t bytes, fate_reader_take *take, void *argument);
/* Returns how many fates of a kind found no room so far, in all rings. */
uint64_t fate_reader_missed(void *memory, size_t bytes, enum fate_kind kind);

#endif
