/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports that a machine is set up for: PCI devices and interfaces by their names, or those of a
 * service, /etc/weir/NAME.weir, by its name. They form one scenario, from which the memory and the
 * NICs follow.
 *
 * `root` is a prefix of /sys and /etc: "" for this machine, a folder for a test.
 * Ownership: setup_ports_release.
 * Thread: control; only reads files.
 */
#ifndef WEIR_SETUP_PORTS_H
#define WEIR_SETUP_PORTS_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

#define SETUP_WORDS_MAX   32
#define SETUP_DEVICES_MAX SCENARIO_PORTS_MAX

struct setup_device {
	char address[16];         /* 0000:03:00.1 */
	char driver[64];          /* "": none */
	char interface[IFNAMSIZ]; /* of that driver; "": none */
	bool up;                  /* the interface is up */
};

struct setup_ports {
	uint32_t n_words;
	char word[SETUP_WORDS_MAX][64];
	/* The devices for DPDK. An interface stays with the kernel. */
	uint32_t n_devices;
	struct setup_device device[SETUP_DEVICES_MAX];
	struct scenario *nics; /* has these devices as ports */
	unsigned huge_mib;     /* huge pages for all of them */
};

/* Adds a device, an interface or a service. Returns 0; -ENOMEM with problem; -E2BIG with problem if
 * there are too many; or another error with problem if the word is none, or the service cannot be
 * read. */
int setup_ports_add(const char *root, const char *word, struct setup_ports *ports,
                    struct problem *problem);
/* To be called when all words are added. */
void setup_ports_finish(struct setup_ports *ports);
void setup_ports_release(struct setup_ports *ports);

#endif
