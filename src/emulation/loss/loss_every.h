/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss every N [burst B]`: periodic loss, as in the IXP2400 emulator (Nakauchi, Kobayashi, Table 1
 * and section 3.1).
 *
 * Model: a counter of packets. The packet that brings it to N and the B - 1 after it are lost, then
 * it starts again: of each N - 1 + B packets the last B are lost. No randomness. `keyed flow`: each
 * flow has its own counter, its packet's number (flows.h), which a change does not set back.
 *
 * Ranges: N 1 to 2^30, B 1 to 2^31 - 1.
 */
#ifndef WEIR_LOSS_EVERY_H
#define WEIR_LOSS_EVERY_H

#include "scenario/statement.h"

#define LOSS_EVERY_MAX       (UINT64_C(1) << 30)
#define LOSS_EVERY_BURST_MAX ((UINT64_C(1) << 31) - 1)

struct loss_every_conf {
	struct conf conf;
	uint64_t every;
	uint64_t burst;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_every_statement;

#endif
