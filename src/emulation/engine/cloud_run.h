/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run: heads that leave a plain link one after the other, and the line at the same instants, with
 * nothing between. They go straight from the queue into the outlet, and what can be is counted once
 * for all of them; the outcome is that of one by one.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_RUN_H
#define WEIR_CLOUD_RUN_H

#include "engine/cloud.h"

/* Whether heads may leave in a run, as things stand now. */
bool cloud_run_may(const struct cloud *cloud);
/* The heads that leave up to and at `limit`, as long as the shared wheel is known to have nothing
 * before and the outlet has room. Where it ends the next may leave in another way. */
void cloud_run_depart(struct cloud *cloud, simtime limit, struct outlet *outlet);

#endif
