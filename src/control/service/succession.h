/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario that replaces the one in force as a whole, such as the content of a file.
 *
 * Clouds and all that belongs to them may differ. Ports and the seed cannot change while packets
 * flow. What a file leaves open stays as it is: without `seed` the seed of the run; for a port
 * without a device (as in the files of configs/) its device and its settings. Ports keep the order
 * in which weir was started with them.
 *
 * Thread: the one that holds the turn (control.h).
 */
#ifndef WEIR_SUCCESSION_H
#define WEIR_SUCCESSION_H

#include <stdint.h>

#include "scenario/scenario.h"

enum succession_fault {
	SUCCESSION_SEED,     /* another seed */
	SUCCESSION_PORT_NEW, /* a port that does not run */
	SUCCESSION_PORT_DIFFERS /* a port with another device or other settings */,
	SUCCESSION_PORT_GONE, /* a running port that is missing */
};

#define SUCCESSION_REFUSALS_MAX (1 + 2 * SCENARIO_PORTS_MAX)

struct succession_refusal {
	enum succession_fault fault;
	const struct port_conf *port; /* of `next`; of `now` if the port is missing; or NULL */
};

/* Makes `next` the successor of `now`, and returns 0. If something prevents that, lists the
 * reasons, returns their number, and leaves `next` as it is. Returns -ENOMEM if there is no
 * memory. */
int succession_make(struct scenario *next, const struct scenario *now,
                    struct succession_refusal refusals[SUCCESSION_REFUSALS_MAX]);

#endif
