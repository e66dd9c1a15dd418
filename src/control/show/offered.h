/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets came to a statement: the whole of which its effect is a share. It follows from
 * the counters and from the order in which a packet passes the statements (statements.h):
 *
 *   a stage           what came in, less what was dropped before the stage, and with the copies and
 *                     fragments that were made before it
 *   a management      the same behind all stages, less what `delay ... limit` dropped
 *   of the line       the packets whose delays were counted
 *
 * Packets that were held when the counters were cleared count as received again, but do not pass
 * the stages again.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_OFFERED_H
#define WEIR_OFFERED_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

struct cloud_report;

/* Returns false if the counters do not determine it: a packet may have found no memory before the
 * statement or behind it; and a cloud of a template does not count delays of its own. */
bool offered_packets(const struct cloud_conf *cloud, const struct cloud_report *report,
                     const struct conf *conf, uint64_t *packets);

#endif
