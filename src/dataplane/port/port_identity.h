/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a port's device text means beneath its words: which interfaces of the kernel, which PCI
 * device, which file it writes. Two ports that mean the same would take each other's packets, or
 * each would get all of them.
 *
 * An interface is known by its index, so that other names of it count, and by its name where it is
 * not there yet (one that net_tap makes). A PCI device whose driver shares it with the kernel
 * (mlx5) is its interfaces, too.
 *
 * Beyond this process an interface or a PCI device is *claimed*: by a listening socket with an
 * abstract name made of its index or address. Such names belong to a network namespace, as
 * interfaces do, need no right and no folder, and go with the process, however it ends. Who holds
 * one can be asked for by connecting to it. An interface that weir makes itself is not claimed: it
 * may be the cable to another weir.
 *
 * Ownership: identity_release gives back what was claimed.
 * Thread: control.
 */
#ifndef WEIR_PORT_IDENTITY_H
#define WEIR_PORT_IDENTITY_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

#define IDENTITY_INTERFACES_MAX 8

struct port_identity {
	struct {
		char name[IFNAMSIZ];
		unsigned index; /* 0: it is not there (yet) */
		bool made;      /* by the device itself */
		int claim;      /* -1: not claimed */
	} interfaces[IDENTITY_INTERFACES_MAX];
	uint32_t n_interfaces;
	char pci[16]; /* 0000:03:00.1, or "" */
	int pci_claim;
	char file[PATH_MAX]; /* that is written, where equal names mean equal files; or "" */
};

/* Claims nothing yet. */
void identity_of(const char *device, struct port_identity *identity);
/* What both mean, in words (`interface eth1`): false, and untouched, if they have nothing in
 * common. */
bool identity_shared(const struct port_identity *one, const struct port_identity *other, char *what,
                     size_t room);
/* 0; or -EBUSY with problem: another weir has it, and which process that is. What was claimed
 * before that is still to be released. */
int identity_claim(struct port_identity *identity, struct problem *problem);
void identity_release(struct port_identity *identity);

#endif
