/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether this machine has the devices of a scenario, as far as that can be seen without opening
 * them: that an interface is there, whether it is up, its MTU, who else uses it, whether this
 * process may open it; and that a PCI device can be taken.
 *
 * What is wrong with a device is a warning, and no error of the scenario: a file is checked on
 * other machines than that where it runs.
 *
 * Thread: control; asks the kernel.
 */
#ifndef WEIR_DEVICES_H
#define WEIR_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

#define DEVICE_WARNINGS_MAX 6
#define DEVICE_TEXT_BYTES   400

struct device_look {
	const char *port, *device;    /* the scenario's */
	char what[DEVICE_TEXT_BYTES]; /* `interface eth1 (ixgbe, MTU 1500), up` */
	uint32_t n_warnings;
	char warnings[DEVICE_WARNINGS_MAX][DEVICE_TEXT_BYTES];
	/* of an interface, else 0 */
	bool there, up;
	int mtu;
};

void device_look(const struct port_conf *port, struct device_look *look);

#endif
