/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests for memory by the packets of a cloud. If the engine has a scarcity (account/scarcity.h),
 * these packets are numbered. Each packet asks for a place once at each point of its path; single
 * blocks of memory are not counted. Stages call cloud_grants_one to ask, and cloud_lacked for
 * packets that found no memory (stage/stage.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_WANT_H
#define WEIR_CLOUD_WANT_H

#include "engine/cloud.h"

uint32_t cloud_grants_numbered(struct cloud *cloud, enum want want, uint32_t n);

/* Asks for n packets, n > 0. Returns how many of them, from the first, may look for memory, and
 * numbers these; the caller asks again for the others. If it returns 0, the first packet is
 * numbered, and must find none. */
static inline uint32_t cloud_grants(struct cloud *cloud, enum want want, uint32_t n)
{
	return likely(!cloud->holder->scarcity) ? n : cloud_grants_numbered(cloud, want, n);
}

/* Returns true if a repetition makes packets find no memory: then they ask one by one. */
static inline bool cloud_forces(const struct cloud *cloud)
{
	return unlikely(cloud->holder->scarcity != NULL) && cloud->holder->scarcity->forces;
}

#endif
