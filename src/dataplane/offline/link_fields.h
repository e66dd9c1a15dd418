/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks whether a scenario needs link-layer addresses, which captures without Ethernet do not have
 * (capture/link_layer.h). These need them: a filter behind `match` (`ether host`, `ether[0]`,
 * `multicast` of Ethernet), of a cloud or a class, and a rule of `rewrite` that reads or writes
 * addresses; also if a schedule brings them.
 *
 * Thread: any; a pure function.
 */
#ifndef WEIR_LINK_FIELDS_H
#define WEIR_LINK_FIELDS_H

#include "scenario/problem.h"
#include "scenario/scenario.h"

/* Returns 0; -EINVAL with problem, which names the cloud, the words and what to use instead; or
 * -ENOMEM. `what` names the captures in the message. */
int link_fields_check(const struct scenario *scenario, const char *what, struct problem *problem);

#endif
