/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how much memory a live weir takes, and whether the machine has it. `weir check` prints
 * the result, `weir run` applies it.
 *
 * A run takes what the scenario needs (budget.h) and some room for changes while it runs: up to 64
 * MiB and 16,384 packet buffers in all, less if there is less memory. `--memory` sets the memory
 * for packets instead, exactly. Besides, there are the packet buffers of ports and rings, the
 * process itself, and the memory of a recording or a flight: tapes, the ring, and snapshots
 * (record/recording.h), which are assumed to take 2 KiB for each cloud, and the frame of each
 * packet that is held. Packet buffers are in huge pages if all of them fit there.
 *
 * All of it is touched at the start. What does not fit is therefore refused before anything starts:
 * otherwise the process would be killed.
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
	const struct recording_plan *recording; /* of the run, or its flight; NULL: none */
};

struct memory_plan {
	/* of runtime_options, if it fits */
	uint64_t memory_bytes;
	uint32_t mbufs;
	uint64_t needed_bytes; /* without room for changes; or as requested */
	uint64_t there_bytes;
	const char *limit; /* sets there_bytes; in words (machine_memory.h); "": the machine */
};

/* Makes the plan. Returns 0; or -ENOMEM with problem: what is needed, what is available, which
 * limit applies, and what would be right. The sums in the plan are valid then, too. */
int memory_plan_make(const struct memory_request *request, struct memory_plan *plan,
                     struct problem *problem);

/* Returns how many MiB of huge pages `weir run` wants for the scenario, with one worker; for NULL,
 * for the smallest scenario between two ports. Returns 0 if there is no memory to compute it. */
unsigned memory_plan_huge_mib(const struct scenario *scenario);

#endif
