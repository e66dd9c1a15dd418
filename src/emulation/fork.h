/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clouds that come from one place, a port or the end of a cloud.
 *
 * Ownership: made by control, owned by the roster, constant while it is in force.
 */
#ifndef WEIR_FORK_H
#define WEIR_FORK_H

#include "cloud.h"

struct fork {
	struct fork *next;  /* of the roster's */
	struct cloud *only; /* takes everything */
};

/* The cloud that takes a packet; NULL: none does. */
static inline struct cloud *fork_find(const struct fork *fork, struct rte_mbuf *mbuf)
{
	(void)mbuf;
	return fork->only;
}

#endif
