/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values as tc(8) writes them, which differs from weir: a bare number has a unit, case is ignored,
 * and `k` may be 1000 or 1024.
 *
 *   time     s sec secs ms msec msecs us usec usecs ns nsec nsecs; a bare number: `bare_ns` each
 *   percent  with or without %; 0 to 100
 *   rate     bit kbit mbit gbit tbit, kibit ..., a second; bps kbps ..., bytes a second; bare:
 *            bit/s
 *   size     b, k kb, m mb, g gb (1024 each), kbit mbit gbit (of 1024, an eighth); bare: bytes
 *   whole    decimal, octal with 0, hexadecimal with 0x
 *
 * All but the last may have a fraction, and are rounded to the unit.
 * Thread: pure functions, any.
 */
#ifndef WEIR_NETEM_VALUE_H
#define WEIR_NETEM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/draw.h"
#include "text/language_error.h"

/* Each returns false if the text is no such value, or out of range. */
bool netem_unit_time(const char *text, uint64_t bare_ns, uint64_t *ns);
bool netem_unit_percent(const char *text, probability_q63 *value);
bool netem_unit_rate(const char *text, uint64_t *bps);
bool netem_unit_size(const char *text, uint64_t *bytes);
bool netem_unit_whole(const char *text, int64_t min, int64_t max, int64_t *value);

/*
 * Finds the table for `distribution NAME` in a netem line, as tc does: the file NAME.dist, in
 * $TC_LIB_DIR or where iproute2 is installed. A name with a `/` or ending in `.dist` is the file
 * itself.
 *
 * Thread: control.
 */

/* Gets ` distribution table FILE`. Returns 0, or -EINVAL or -ENOMEM with error, except its
 * column. */
int netem_table_words(const char *name, char *words, size_t room, struct language_error *error);

/*
 * Computes what netem's correlation makes of a probability.
 *
 * Model: x = (1 - R) u + R x' with u uniform on [0, 1] (emulation/random/chance.h); an event
 * happens when x <= P. In the long run x has the distribution function F that solves
 *
 *   F(p) = R / (1 - R) * integral of F from (p - (1 - R)) / R to p / R
 *
 * and the share of events is F(P), not P. F is computed by iteration on a grid that is dense at 0,
 * to a few parts in a thousand; F(1 - p) = 1 - F(p).
 *
 * Takes some ms, 50 at most.
 * Thread: pure function, any.
 */

/* Returns the share of events; p and correlation are from 0 to 1. Below 10^-12 it is 0. Returns p
 * if there is no memory. */
double netem_rate(double p, double correlation);

#endif
