/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks whether this machine has the devices of a scenario, as far as possible without opening
 * them: that an interface exists, whether it is up, its MTU, who else uses it, whether this process
 * may open it; and that a PCI device can be taken.
 *
 * A fault of a device is a warning, not an error of the scenario: a file may be checked on another
 * machine than the one that runs it.
 *
 * Thread: control; queries the kernel.
 */
#ifndef WEIR_DEVICES_H
#define WEIR_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include <stdio.h>

#include "scenario/scenario.h"

#define DEVICE_WARNINGS_MAX 8
#define DEVICE_TEXT_BYTES   400

struct device_look {
	const char *port, *device;    /* owned by the scenario */
	char what[DEVICE_TEXT_BYTES]; /* `interface eth1 (ixgbe, MTU 1500), up` */
	uint32_t n_warnings;
	char warnings[DEVICE_WARNINGS_MAX][DEVICE_TEXT_BYTES];
	/* of an interface, else 0 */
	bool there, up;
	int mtu;
};

void device_look(const struct port_conf *port, struct device_look *look);

/* Prints a line `warning: ...` for each port at which no cloud begins, and for each cloud from IP
 * packets to Ethernet frames or back. Both `weir check` and `weir run` print them. */
void devices_warn(const struct scenario *scenario, FILE *out);

#endif
