/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss gilbert-elliott p P r R [bad P] [good P]`: a channel that is good or bad for a while
 * (Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963).
 *
 * Model: before each packet the channel goes from good to bad with probability p, or from bad to
 * good with r. Then the packet is lost with the probability of the current state. The loss rate is
 * (r good + p bad) / (p + r); the channel is bad for 1 / r packets on average, and good for 1 / p.
 * It begins good. With bad 100 % and good 0 % (Gilbert's simple model) losses come in runs whose
 * length is geometric with mean 1 / r. Netem's `gemodel p r 1-h 1-k` is `p P r R bad 1-h good 1-k`.
 *
 * Ranges: all 0 to 100 %. A change keeps the state of the channel. `ecn`: loss_or_mark.h.
 */
#ifndef WEIR_LOSS_GILBERT_ELLIOTT_H
#define WEIR_LOSS_GILBERT_ELLIOTT_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

struct loss_gilbert_elliott_conf {
	struct conf conf;
	probability_q63 p, r;
	probability_q63 bad, good;
	bool ecn;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_gilbert_elliott_statement;

#endif
