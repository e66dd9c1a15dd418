/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a scenario asks for link-layer addresses, which captures without Ethernet do not have
 * (capture/link_layer.h): a filter behind `match` (`ether host`, `ether[0]`, `multicast` of
 * Ethernet), of a cloud or a class, and a rule of `rewrite` that reads or writes them, also where a
 * schedule brings them.
 *
 * Thread: any; a pure function.
 */
#ifndef WEIR_LINK_FIELDS_H
#define WEIR_LINK_FIELDS_H

#include "scenario/problem.h"
#include "scenario/scenario.h"

/* 0; -EINVAL with the cloud, the words and what would be right in `problem`; -ENOMEM. `what`: the
 * captures, for the message. */
int link_fields_check(const struct scenario *scenario, const char *what, struct problem *problem);

#endif
