/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PCI device as the kernel sees it, and in words what prevents DPDK from using it.
 *
 * Thread: control.
 */
#ifndef WEIR_PCI_DEVICE_H
#define WEIR_PCI_DEVICE_H

#include <stdbool.h>

#include "scenario/problem.h"

/* Returns true if a device text begins with a PCI address: [DOMAIN:]BUS:DEVICE.FUNCTION. */
bool pci_device_is(const char *device);
/* Writes the address with its domain, 0000:03:00.1, however the text has it. Returns false if the
 * text has no PCI address. */
bool pci_device_address(const char *device, char address[16]);
/* Returns 0, or -errno with problem if DPDK could not take the device: it does not exist (-ENODEV),
 * it is bound to a driver of the kernel (-EBUSY), this user may not use VFIO (-EACCES). */
int pci_device_check(const char *device, struct problem *problem);

#endif
