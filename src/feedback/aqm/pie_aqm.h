/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `pie [target T] [tupdate T] [alpha A] [beta B] [max-burst T] [mark-ecn-threshold P] [mean SIZE]
 * [derandomize on|off] [cap on|off] [decay empty|half]`: PIE (pie.h, RFC 8033) as the management of
 * a queue.
 *
 * Decides when a packet arrives. With `ecn on` beside it, a selected packet that is capable is
 * marked while the probability is below mark-ecn-threshold (section 5.1). All other selected
 * packets are dropped, with the reason `pie`.
 *   target              target of the delay: 15 ms; 1 us to 10 s
 *   tupdate             time between two updates: 15 ms; 100 us to 10 s
 *   alpha, beta         gains, in Hz: 0.125 and 1.25; to PIE_GAIN_MAX
 *   max-burst           150 ms
 *   mark-ecn-threshold  10 %
 *   mean                size of a mean packet: 1024 B, as in RFC 8034
 *   derandomize         section 5.4: off
 *   cap                 section 5.5: on, as in Linux and ns-3
 *   decay               when the probability loses 2 %: `empty`, if both delays are 0; `half`, if
 *                       both are below half the target
 *
 * A change keeps the state. The next update keeps its instant; a changed tupdate counts from there.
 * Draws: one a packet, whether it is used or not.
 */
#ifndef WEIR_PIE_AQM_H
#define WEIR_PIE_AQM_H

#include "random/draw.h"
#include "scenario/statement.h"

enum pie_decay { PIE_DECAY_EMPTY, PIE_DECAY_HALF };

struct pie_conf {
	struct conf conf;
	simtime target_ns, tupdate_ns, max_burst_ns;
	uint64_t alpha, beta; /* millionths of a Hz */
	probability_q63 mark_below;
	uint64_t mean_bytes;
	bool derandomize, cap;
	uint32_t decay; /* enum pie_decay */
};

extern const struct statement pie_statement;

#endif
