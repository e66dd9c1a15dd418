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
#ifndef WEIR_NETEM_UNIT_H
#define WEIR_NETEM_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"

/* Each returns false if the text is no such value, or out of range. */
bool netem_unit_time(const char *text, uint64_t bare_ns, uint64_t *ns);
bool netem_unit_percent(const char *text, probability_q63 *value);
bool netem_unit_rate(const char *text, uint64_t *bps);
bool netem_unit_size(const char *text, uint64_t *bytes);
bool netem_unit_whole(const char *text, int64_t min, int64_t max, int64_t *value);

#endif
