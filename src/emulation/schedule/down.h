/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `down`: no packet enters the cloud; `up` removes it.
 *
 * Model: a packet that arrives while the cloud is down is dropped with the reason `down`, before
 * any other statement sees it. What the cloud holds continues: packets in the queue are sent,
 * packets on the line arrive, as in a network behind an interface that has lost its carrier. No
 * randomness and no draws: the statements behind do not count packets that they do not see.
 */
#ifndef WEIR_DOWN_H
#define WEIR_DOWN_H

#include "scenario/statement.h"

struct down_conf {
	struct conf conf;
};

extern const struct statement down_statement;
extern const struct statement up_statement;

#endif
