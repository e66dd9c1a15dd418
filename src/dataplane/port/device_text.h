/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device text of a port (struct port_conf) consists of:
 *
 *   interface:NAME            an interface of the kernel. NAME is all that follows, commas included
 *   NAME                      the same, without a comma, a colon or a slash
 *   file:PATH,WORD,KEY=PATH   a capture; in a path, `\,` is a comma
 *   DRIVER,KEY=VALUE,...      DPDK's notation; a value cannot have a comma
 *
 * Only pci_device_check asks the kernel; interface_look.h finds the interface that a name means.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DEVICE_TEXT_H
#define WEIR_DEVICE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "scenario/problem.h"
#include "scenario/scenario.h"

/* Returns the name of the interface that a text means by itself, without a driver of DPDK's, or
 * NULL. */
const char *device_text_interface(const char *device);
/* Finds the name of the interface that a text means, or gives to a driver with `iface=`. Returns
 * false if there is none, or the device makes it itself (net_tap). */
bool device_text_any_interface(const char *device, char name[INTERFACE_NAME_BYTES]);

/* Copies the part of a text up to the next comma, without the backslash before commas that belong
 * to it, and cuts it if there is no room. Returns how many bytes of the text the part has. */
size_t device_text_part(const char *text, char *part, size_t room);
/* Copies the value of `KEY=`. Returns false, and leaves `value` empty, if the text has no such
 * argument. */
bool device_text_value(const char *device, const char *key, char *value, size_t room);

/*
 * A PCI device as the kernel sees it, and in words what prevents DPDK from using it.
 *
 * Thread: control.
 */

/* Returns true if a device text begins with a PCI address: [DOMAIN:]BUS:DEVICE.FUNCTION. */
bool pci_device_is(const char *device);
/* Writes the address with its domain, 0000:03:00.1, however the text has it. Returns false if the
 * text has no PCI address. */
bool pci_device_address(const char *device, char address[16]);
/* Returns 0, or -errno with problem if DPDK could not take the device: it does not exist (-ENODEV),
 * it is bound to a driver of the kernel (-EBUSY), this user may not use VFIO (-EACCES). */
int pci_device_check(const char *device, struct problem *problem);

#endif
