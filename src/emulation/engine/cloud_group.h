/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group: packets of a burst that come at one instant, and meet the link of a cloud together. All
 * of them wait behind the head, or all of them conform to an idle token bucket; the management lets
 * each pass. What is asked for each packet otherwise is asked once then, and the outcome is the
 * same.
 *
 * A group ends ahead of the first packet that may have another fate: one without room in the queue,
 * or in the chunk that the log writes, one that stays in its mbuf, one that the management marks or
 * drops. That one meets the link by itself.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_GROUP_H
#define WEIR_CLOUD_GROUP_H

#include "engine/cloud.h"
#include "link/aqm.h"

/* How many packets of the burst, from `from` on, are in the queue now. `decided`: whether the one
 * behind them has this verdict of the management. */
uint16_t cloud_group_waits(struct cloud *cloud, struct burst *burst, uint16_t from,
                           struct aqm_verdict *verdict, bool *decided);
/* How many packets of the burst, from `from` on, have left the link at their instant, and are about
 * to enter the line. */
uint16_t cloud_group_passes(struct cloud *cloud, struct burst *burst, uint16_t from,
                            struct aqm_verdict *verdict, bool *decided);

#endif
