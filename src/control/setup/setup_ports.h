/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports that a machine is set up for: PCI devices and interfaces by their names, or those of a
 * service, /etc/weir/NAME.weir, by its name. They make one scenario, which says how much memory is
 * needed and which NICs there are.
 *
 * `root` stands ahead of /sys and /etc: "" for this machine, a folder for a test.
 * Ownership: setup_ports_release. Thread: control; reads files and nothing else.
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
	char driver[64];          /* "": none has it */
	char interface[IFNAMSIZ]; /* that its driver makes; "": none */
	bool up;                  /* the interface */
};

struct setup_ports {
	uint32_t n_words;
	char word[SETUP_WORDS_MAX][64];
	/* What DPDK is to drive. An interface stays with the kernel. */
	uint32_t n_devices;
	struct setup_device device[SETUP_DEVICES_MAX];
	struct scenario *nics; /* these devices as its ports */
	unsigned huge_mib;     /* of huge pages for all of it */
};

/* 0; -EINVAL with problem: a word means nothing here; -ENOMEM with problem. */
int setup_ports_add(const char *root, const char *word, struct setup_ports *ports,
                    struct problem *problem);
/* When all words are there. */
void setup_ports_finish(struct setup_ports *ports);
void setup_ports_release(struct setup_ports *ports);

#endif
