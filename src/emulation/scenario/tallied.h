/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which statements of a cloud have a tally (account/tally.h), and in what order: those with an
 * effect that is counted by packets (`acts` in statement.h), then those inside schedules, in the
 * order in which they stand in the cloud. Both the engine and whatever shows a cloud walk its
 * configuration by this function, so that the n-th tally of a report belongs to the n-th statement.
 *
 * Thread: control.
 */
#ifndef WEIR_TALLIED_H
#define WEIR_TALLIED_H

#include "account/tally.h"
#include "scenario/scenario.h"

struct tallied {
	struct conf *conf;
	const struct conf *within; /* the schedule that it stands in, perhaps itself; NULL: none */
	const char *state;         /* of the schedule, if it has states; or NULL */
};

/* Writes them, and returns their number. */
uint32_t tallied_find(const struct cloud_conf *cloud, struct tallied tallied[TALLIES_MAX]);
/* Returns the position of the tally of `conf`, which is one of `cloud` itself, or -1. */
int tallied_position(const struct cloud_conf *cloud, const struct conf *conf);

/* Gives each of them its tally: that of its equal in `before`, which may be NULL, else a new one.
 * Returns 0 or -ENOMEM. */
int tallied_give(struct cloud_conf *cloud, const struct cloud_conf *before);

#endif
