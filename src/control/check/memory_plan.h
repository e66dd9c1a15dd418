/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how much memory a live weir takes, and whether the machine has it. `weir check` prints
 * that, `weir run` does it.
 *
 * A run takes what the scenario needs (budget.h) and some room for changes while it runs: up to 64
 * MiB and 16,384 packet buffers in all, less where there is less memory. `--memory` sets the memory
 * for packets instead; then there is exactly that. On top come the packet buffers of ports and
 * rings, the process itself, and what a recording or a flight takes: tapes, the ring, and snapshots
 * (record/recording.h), of which each cloud is believed to take 2 KiB, and a packet that is held
 * its frame. Packet buffers lie in huge pages if all of them fit there.
 *
 * All of it is touched at the start. What does not fit is therefore refused before anything starts:
 * a process that continued would be killed.
 *
 * Thread: control.
 */
#ifndef WEIR_MEMORY_PLAN_H
#define WEIR_MEMORY_PLAN_H

#include <stdint.h>

#include "check/budget.h"
#include "machine/machine_memory.h"
#include "record/recording.h"

struct memory_request {
	const struct scenario *scenario;
	const struct budget *budget; /* the scenario's */
	const struct machine_memory *machine;
	uint32_t workers;
	uint64_t asked_bytes;                   /* for packets in flight; 0: not given */
	const struct recording_plan *recording; /* of the run, or its flight; NULL: there is none */
};

struct memory_plan {
	/* of runtime_options, where it fits */
	uint64_t memory_bytes;
	uint32_t mbufs;
	uint64_t needed_bytes; /* without room for changes; or as given */
	uint64_t there_bytes;
	const char *limit; /* of there_bytes, in words (machine_memory.h); "": the machine */
};

/* 0; or -ENOMEM with problem: what is needed, what is there, by which limit, and what would be
 * right. Then the plan's sums are right, too. */
int memory_plan_make(const struct memory_request *request, struct memory_plan *plan,
                     struct problem *problem);

/* How many MiB of huge pages `weir run` wants for the scenario, with one worker; NULL: for the
 * smallest one between two ports. 0: no memory to find out. */
unsigned memory_plan_huge_mib(const struct scenario *scenario);

#endif
