/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PCI device as the kernel sees it: what stands between it and DPDK, in words.
 *
 * Thread: control.
 */
#ifndef WEIR_PCI_DEVICE_H
#define WEIR_PCI_DEVICE_H

#include <stdbool.h>

#include "scenario/problem.h"

/* Whether a device text begins with a PCI address: [DOMAIN:]BUS:DEVICE.FUNCTION. */
bool pci_device_is(const char *device);
/* Its address with the domain, 0000:03:00.1, however it was written; false: it is none. */
bool pci_device_address(const char *device, char address[16]);
/* 0, or -errno with problem, when DPDK could not take it: it does not exist (-ENODEV), it is bound
 * to a driver of the kernel (-EBUSY), VFIO may not be used by this user (-EACCES). */
int pci_device_check(const char *device, struct problem *problem);

#endif
