/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares a live scenario before it starts: a seed, and memory that this process can have.
 *
 * Thread: control.
 */
#ifndef WEIR_RUN_PREPARE_H
#define WEIR_RUN_PREPARE_H

#include <stddef.h>
#include <stdint.h>

#include "live/runtime.h"
#include "record/recording_run.h"
#include "scenario/scenario.h"

/* Logs warnings about a scenario that is odd but can run (scenario_warn). */
void run_warn(const struct scenario *scenario);
/* Chooses a seed if none was given. It is short, because someone may have to type it. */
void run_seed_choose(struct scenario *scenario);
struct run_memory {
	const char *config;   /* the scenario's name, for messages */
	uint64_t asked_bytes; /* of --memory; 0: not given */
	uint64_t port_bps;    /* how fast packets come in without a `rate`; 0: BUDGET_PORT_BPS */
	uint32_t workers;
	const struct recording_arguments *record;
};
/* Sets the memory of `options`. Returns 0, or -errno with message if this process cannot have
 * it. */
int run_memory_size(const struct scenario *scenario, const struct run_memory *asked,
                    struct runtime_options *options, char *message, size_t room);

#endif
