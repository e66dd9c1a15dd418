/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tap that weir makes in a network namespace, and opens as a port (tap_port.h). The tap ends with
 * its descriptor, however the process ends.
 *
 * Ownership: tap_end_close closes all descriptors.
 * Thread: control.
 */
#ifndef WEIR_TAP_END_H
#define WEIR_TAP_END_H

#include "scenario/problem.h"

#define TAP_END_DEVICE_BYTES 64

struct tap_end {
	int net; /* the caller makes or opens it */
	int tap;
	int stamps; /* socket (tap_port.h), or -errno: the time of frames is not known */
	int index;  /* of the tap, in `net` */
	char device[TAP_END_DEVICE_BYTES]; /* for struct port_conf */
};

extern const struct tap_end tap_end_none;

/* Makes the tap in `end->net`. `opening`: as of a tap port; -1: none. Returns 0, or -errno with
 * problem. */
int tap_end_open(struct tap_end *end, const char *name, int opening, struct problem *problem);
void tap_end_close(struct tap_end *end);

#endif
