/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group: packets of a burst that come at one instant, and meet the link of a cloud together. All
 * of them wait behind the head, or all of them conform to an idle token bucket; the management lets
 * each pass. What is asked for each packet otherwise is asked once then, and the outcome is the
 * same.
 *
 * A group ends ahead of the first packet that may have another fate: one without room in the queue,
 * or in the chunk that the log writes, one that stays in its mbuf, one that the management may not
 * let pass. That one has to meet the link by itself.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_GROUP_H
#define WEIR_CLOUD_GROUP_H

#include "engine/cloud.h"

/* How many of the first packets are in the queue now; `refused`: whether it ended at one that the
 * management may not let pass, where another attempt will come no further. */
uint16_t cloud_group_waits(struct cloud *cloud, struct rte_mbuf *const *mbufs, uint16_t n,
                           bool *refused);
/* How many of the first packets have left the link at their instant, and are about to enter the
 * line. */
uint16_t cloud_group_passes(struct cloud *cloud, struct rte_mbuf *const *mbufs, uint16_t n,
                            bool *refused);

#endif
