/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a cloud that ask for memory. If the engine has a scarcity (account/scarcity.h), they
 * are numbered. Each packet asks once at each point of its way whether it gets a place; single
 * blocks of memory are not counted. Stages ask by cloud_grants_one, and cloud_lacked says which
 * have found none (stage/stage.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_WANT_H
#define WEIR_CLOUD_WANT_H

#include "engine/cloud.h"

uint32_t cloud_grants_numbered(struct cloud *cloud, enum want want, uint32_t n);

/* n packets ask, n > 0. Returns how many of the first may look for memory, and numbers these; the
 * caller asks again for the others. If it returns 0, the first packet is numbered, and must find
 * none. */
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
