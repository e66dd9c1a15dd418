/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a port's device text refers to: which interfaces of the kernel, which PCI device, which file
 * to write. If two ports referred to the same, they would take each other's packets, or each would
 * get all of them.
 *
 * An interface is identified by its index, so all its names count; an interface that does not exist
 * yet (net_tap makes it) by its name. A PCI device whose driver shares it with the kernel (mlx5)
 * includes its interfaces.
 *
 * An interface or a PCI device is *claimed* across processes: by a listening socket with an
 * abstract name made of its index or address. Such names belong to a network namespace, as
 * interfaces do. They need no right and no folder, and go with the process, however it ends.
 * Connecting to the socket yields its owner. An interface that weir makes itself is not claimed: it
 * may be the cable to another weir.
 *
 * Ownership: identity_release gives back what was claimed.
 *
 * Thread: control.
 */
#ifndef WEIR_PORT_IDENTITY_H
#define WEIR_PORT_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"
#include "scenario/scenario.h"

#define IDENTITY_INTERFACES_MAX 8

struct port_identity {
	struct {
		char name[INTERFACE_NAME_BYTES]; /* the kernel's; if there is none, the text's */
		unsigned index;                  /* 0: it does not exist (yet) */
		bool made;                       /* by the device itself */
		int claim;                       /* -1: not claimed */
	} interfaces[IDENTITY_INTERFACES_MAX];
	uint32_t n_interfaces;
	char pci[16]; /* 0000:03:00.1, or "" */
	int pci_claim;
	char file[PATH_MAX]; /* the file to write, resolved: equal paths mean equal files; or "" */
};

/* Finds what a device text refers to. Claims nothing. */
void identity_of(const char *device, struct port_identity *identity);
/* Writes what both refer to, in words (`interface eth1`). Returns false, and leaves `what`
 * unchanged, if they have nothing in common. */
bool identity_shared(const struct port_identity *one, const struct port_identity *other, char *what,
                     size_t room);
/* Claims the interfaces and the PCI device. Returns 0; or -errno with problem, -EBUSY if another
 * weir has one of them (the problem names its process). What was claimed before a failure remains
 * to be released. */
int identity_claim(struct port_identity *identity, struct problem *problem);
void identity_release(struct port_identity *identity);

#endif
