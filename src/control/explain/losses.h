/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The losses of a flow: which packets were lost, which packet repeats each, and whether a timer or
 * later packets made the host send it again. What a loss cost, the walk finds out (walk.h).
 *
 * Thread: one at a time.
 */
#ifndef WEIR_LOSSES_H
#define WEIR_LOSSES_H

#include "explain/flow.h"
#include "explain/verdict.h"
#include "explain/walk.h"

/* Counts the packets of a flow that have come since the last call, and adds their losses. Of each
 * way, the last `recent` packets may yet be on their way, and are left to the next call. */
void losses_tell(struct flow *flow, const struct ground *ground, uint32_t recent,
                 struct verdict *verdict);

#endif
