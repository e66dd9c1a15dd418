/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the segments at which a TCP flow changes its DSCP, as ssh and iperf3 do after they have
 * connected. The watch keeps the last DSCP of DSCP_WATCH_FLOWS flows; of two flows that hash to one
 * place it keeps the later one. A segment of an unknown flow counts as a change, so no change is
 * missed.
 *
 * Cost: O(1) for each segment.
 * Thread: the worker's that owns the port's transmit queue.
 */
#ifndef WEIR_DSCP_WATCH_H
#define WEIR_DSCP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/headers.h"

#define DSCP_WATCH_FLOWS 4096

struct dscp_watch {
	struct {
		uint32_t flow; /* a hash of addresses and ports; 0: none */
		uint8_t dscp;
	} last[DSCP_WATCH_FLOWS];
};

/* Returns the DSCP of an IP packet, in the upper six bits. */
uint8_t dscp_of(const uint8_t *frame, const struct headers *headers);
/* Notes the DSCP of a TCP segment. Returns true if it differs from the last one of its flow, or if
 * the flow is not known. The segment has its ports. */
bool dscp_watch_changes(struct dscp_watch *watch, const uint8_t *frame,
                        const struct headers *headers);
/* Forgets the flow, so that its next segment is one that changes. */
void dscp_watch_forget(struct dscp_watch *watch, const uint8_t *frame,
                       const struct headers *headers);

#endif
