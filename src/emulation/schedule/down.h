/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `down`: nothing comes into the cloud; `up` takes it away again.
 *
 * Model: what arrives while a cloud is down is dropped, before any other statement sees it, with
 * the reason `down`. What is in the cloud already goes on: what waits for the link is sent, what is
 * on the way arrives, as in a network behind an interface that has lost its carrier. No randomness,
 * and no draws: the statements behind do not count the packets that they do not see.
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
