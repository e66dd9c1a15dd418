/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which fates (account/witness.h) go from the workers of a live weir (fate_ring.h) to
 * another process (fate_reader.h): `struct fate_memory`, then for each worker a `struct
 * fate_ring_state` and its ring. All rings have the same size. A record does not wrap around the
 * end of its ring: padding fills the end. Numbers are in the byte order of this machine.
 */
#ifndef WEIR_FATE_LAYOUT_H
#define WEIR_FATE_LAYOUT_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "account/witness.h"
#include "scenario/scenario.h"

#define FATE_MEMORY_MIN (UINT64_C(1) << 20)
#define FATE_MEMORY_MAX (UINT64_C(1) << 30)
#define FATE_RINGS_MAX  128
/* A longer frame is truncated. */
#define FATE_SNAP_MAX 65535

#define FATE_MAGIC   "weirfate"
#define FATE_VERSION 2
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
	simtime at_ns, t_in_ns, t_out_ns, poll_ns;
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

#endif
