/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a cloud that ask for memory, numbered where somebody wants to know which of them find
 * none (account/scarcity.h). Of a packet, what is asked is whether it gets a place at all, once at
 * each point of its way: not each block of memory.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_WANT_H
#define WEIR_CLOUD_WANT_H

#include "engine/cloud.h"

uint32_t cloud_grants_numbered(struct cloud *cloud, enum want want, uint32_t n);

/* n packets ask, n > 0: how many of the first may look for memory. Those are numbered, and the
 * others have to ask again. 0: the first is numbered, and must find none. */
static inline uint32_t cloud_grants(struct cloud *cloud, enum want want, uint32_t n)
{
	return likely(!cloud->holder->scarcity) ? n : cloud_grants_numbered(cloud, want, n);
}

/* Whether a repetition lets packets find none: then they ask one by one. */
static inline bool cloud_forces(const struct cloud *cloud)
{
	return unlikely(cloud->holder->scarcity != NULL) && cloud->holder->scarcity->forces;
}

#endif
