/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Treats a packet that a model of loss has chosen. The packet is dropped, or, with `ecn`, marked if
 * its transport is capable (ce_mark.h), as in netem's `ecn`.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LOSS_OR_MARK_H
#define WEIR_LOSS_OR_MARK_H

#include <stdbool.h>

#include "packet/ce_mark.h"
#include "stage/stage.h"

#define LOSS_ECN_HELP "ECN-capable packets are marked instead of lost"

static inline void loss_or_mark(struct cloud *cloud, struct burst *burst, uint16_t i, bool ecn)
{
	enum reason reason = REASON_LOSS;

	if (unlikely(ecn)) {
		enum ce_mark done = ce_mark(cloud_pool(cloud), burst, i);

		if (done == CE_MARK_DONE)
			cloud_marked(cloud, burst, i, REASON_LOSS);
		if (done == CE_MARK_DONE || done == CE_MARK_ALREADY)
			return;
		if (done == CE_MARK_NO_BUFFER)
			reason = REASON_NO_BUFFER;
	}
	cloud_drop(cloud, burst, i, reason);
}

#endif
