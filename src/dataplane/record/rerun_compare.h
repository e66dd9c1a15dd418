/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares a repetition with what the recorded engine did: each departure, the counters of clouds
 * from time to time, and the end. The first difference counts (rerun_engine_differ).
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_COMPARE_H
#define WEIR_RERUN_COMPARE_H

#include "record/rerun_engine.h"

/* Adds a packet that has left here, and waits for its entry. Returns 0 or -ENOMEM. */
int rerun_gone_add(struct gone_queue *queue, simtime due_ns, uint32_t digest);

/* For an entry TAPE_DEPARTURES, TAPE_CHECK, TAPE_END. */
void rerun_compare_departures(struct rerun_engine *rerun_engine, const struct recorded *recorded);
void rerun_compare_counters(struct rerun_engine *rerun_engine, const struct tape_entry *entry);
void rerun_compare_end(struct rerun_engine *rerun_engine, const struct tape_entry *entry);

#endif
