/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine without devices and without a clock: its memory, the scenario in force, and the loop
 * that takes out what leaves. A replay, a recording that is run again and libweir stand on it.
 *
 * Ownership: the mempool is the caller's, and outlives the engine. The rest is freed by
 * offline_engine_close.
 * Thread: one.
 */
#ifndef WEIR_OFFLINE_ENGINE_H
#define WEIR_OFFLINE_ENGINE_H

#include "engine/engine.h"
#include "offline/replay.h"

/* Takes the packets in the outlet of a port, of which there is at least one, and empties it.
 * Returns 0, or a negative errno: what it has left in the outlet, and what leaves then, is
 * freed. */
typedef int offline_leave(void *argument, uint32_t port, struct outlet *outlet);

struct offline_engine_plan {
	struct rte_mempool *pool;
	uint64_t memory_bytes;   /* most memory for small packets; 0: REPLAY_MEMORY */
	struct witness *witness; /* the next three as in engine_setup */
	simtime *lacked_ns;
	bool live;
	offline_leave *leave;
	void *argument;
};

struct offline_engine {
	struct engine *engine;
	void *memory;
	size_t memory_bytes;
	uint32_t n_ports;
	offline_leave *leave;
	void *argument;
	int error; /* the first one of `leave` */
};

/* Makes an engine with the seed and the ports of the scenario, and no cloud yet: change_at_once
 * puts the scenario in force. Returns 0, or
 * -ENOMEM with problem. `offline` is all zero before. */
int offline_engine_open(struct offline_engine *offline, const struct scenario *scenario,
                        const struct offline_engine_plan *plan, struct problem *problem);
/* Frees the engine, which may be all zero. May be called twice. */
void offline_engine_close(struct offline_engine *offline);

/* Executes all events up to and at `now`, and passes on what leaves. Returns 0, or the error of
 * `leave`. */
int offline_engine_advance(struct offline_engine *offline, simtime now);

/* Fills in the reports of all clouds of the scenario, which result->clouds has room for, and what
 * no cloud took at each port. Returns 0; or the index of the first cloud that does not add up,
 * from 1. */
uint32_t offline_engine_report(const struct offline_engine *offline,
                               const struct scenario *scenario, struct replay_result *result);

#endif
