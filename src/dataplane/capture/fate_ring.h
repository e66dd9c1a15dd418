/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fates (account/witness.h), with the beginnings of their frames, on their way from the workers of
 * a live weir to another process, which takes them out of memory that both have mapped.
 *
 * Who reads makes the memory and pays for it: a memfd of which all pages are there, and whose size
 * is sealed, so that no access of a worker to it can fail. weir seals it against later writers, too
 * (F_SEAL_FUTURE_WRITE): then nobody can punch a hole into it either, of which the pages would be
 * weir's. A worker writes to a ring of its own, and decides by nothing there but how far the reader
 * has come, which it checks: whatever a reader does, it harms nobody but itself. A reader checks
 * what it has copied, so no writer harms it. A fate for which there is no room is counted by its
 * kind, and no packet waits.
 *
 * Layout: `struct fate_memory`, then for each worker a `struct fate_ring_state` and its ring, of
 * the same size each. A record does not go round the end: padding does. In this machine's byte
 * order.
 *
 * Thread: put: the worker whose ring it is. take: one at a time. Everything else control's.
 */
#ifndef WEIR_FATE_RING_H
#define WEIR_FATE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/witness.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

#define FATE_MEMORY_MIN (UINT64_C(1) << 20)
#define FATE_MEMORY_MAX (UINT64_C(1) << 30)
#define FATE_RINGS_MAX  128
/* Of a longer frame the beginning is kept. */
#define FATE_SNAP_MAX 65535

struct fate_memory {
	char magic[8];
	uint32_t version;
	uint32_t n_rings;
	uint64_t ring_bytes; /* of each, without its state */
	simtime settled_ns;  /* what happened up to then has been put, by all workers */
	int64_t wall_ns;     /* from the instants of fates to those since 1970 */
	uint32_t n_ports;
	char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];
};

struct fate_ring_state {
	uint64_t written __attribute__((aligned(64))); /* bytes so far, by the worker */
	uint64_t missed[FATE_KINDS];                   /* fates, by kind, by the worker */
	uint64_t taken __attribute__((aligned(64)));   /* bytes so far, by the reader */
};

/* ---- the worker's end ---- */

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

/* ---- the reader's end ---- */

/* A memfd with so many bytes, and where it is mapped. The descriptor, or -errno. */
int fate_memory_make(size_t bytes, void **memory);

struct fate_taken {
	struct fate fate;
	uint64_t missed; /* before it, of its kind and ring, since the beginning */
	simtime poll_ns;
	char names[2 * UINT8_MAX]; /* of its cloud and stage */
	struct fate_ring_state *ring;
	uint64_t after; /* where the next one begins */
};

/* The oldest fate of a ring; its frame is there until it is passed. False: there is none now, or
 * what is there is no record: then *broken. */
bool fate_memory_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken);
void fate_memory_pass(const struct fate_taken *taken);
simtime fate_memory_settled(const void *memory);
/* How many of a kind found no room so far, in all rings. */
uint64_t fate_memory_missed(void *memory, size_t bytes, enum fate_kind kind);

#endif
