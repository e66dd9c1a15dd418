/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run: heads that leave a plain link one after the other, with nothing between. They go from the
 * queue onto the line together, or, where the line is nothing, straight into the outlet. The
 * outcome is that of one by one.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_RUN_H
#define WEIR_CLOUD_RUN_H

#include "engine/cloud.h"

struct outlet;

/* The heads that leave up to and at `until`; of a shared cloud as long as the shared wheel is known
 * to have nothing before, and as far as the outlet, if there is one, has room. Where it ends there
 * may be more. False: none has left, and the next has to leave alone. */
bool cloud_run_depart(struct cloud *cloud, simtime until, struct outlet *outlet);

#endif
