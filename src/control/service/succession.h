/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario that takes the place of the one in force, as a whole: what a file says from its first
 * line to its last.
 *
 * Clouds and all that belongs to them may differ. Ports and the seed cannot change while packets
 * flow. What a file leaves open stays as it is: without `seed` the seed of the run, and of a port
 * without a device (as in the files of configs/) its device and its settings. Ports stand in the
 * order in which weir was started with them.
 *
 * Thread: whoever holds the turn (control.h).
 */
#ifndef WEIR_SUCCESSION_H
#define WEIR_SUCCESSION_H

#include <stdint.h>

#include "scenario/scenario.h"

enum succession_fault {
	SUCCESSION_SEED,     /* another seed */
	SUCCESSION_PORT_NEW, /* a port that does not run */
	SUCCESSION_PORT_DIFFERS /* of another device, or with other settings */,
	SUCCESSION_PORT_GONE, /* a port that runs, and is not there */
};

#define SUCCESSION_REFUSALS_MAX (1 + 2 * SCENARIO_PORTS_MAX)

struct succession_refusal {
	enum succession_fault fault;
	const struct port_conf *port; /* of `next`; of a port that is gone, of `now`; or NULL */
};

/* Makes `next` the successor of `now`: 0. Else how many things stand against it, which are listed,
 * and `next` is as it was. -ENOMEM. */
int succession_make(struct scenario *next, const struct scenario *now,
                    struct succession_refusal refusals[SUCCESSION_REFUSALS_MAX]);

#endif
