/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `every TIME for TIME [from TIME] STATEMENT [and STATEMENT...]`: statements that hold for a while,
 * again and again. `flap down TIME every TIME [from TIME]`: the same with `down`.
 *
 * Model: the statements are in force in the windows [from + k every, from + k every + for), k = 0,
 * 1, ..., counted from the beginning of the run. Outside the windows the other statements of the
 * cloud are in force. If `from` is not given, it is one `every`: the run begins undisturbed. Both
 * ends of a window act before any packet that arrives at their instant. If a `rate` is cut, its
 * queue continues with what it holds. No randomness. Ranges: every 1 us to 7 days, for 1 ns to less
 * than every, from 0 to 7 days.
 */
#ifndef WEIR_EVERY_H
#define WEIR_EVERY_H

#include "scenario/orders.h"

struct every_conf {
	struct conf conf;
	simtime every_ns, for_ns, from_ns;
	struct orders orders; /* flap: empty */
};

extern const struct statement every_statement;
extern const struct statement flap_statement;

#endif
