/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of an interface as the port of a scenario: `inside:eth0` towards this machine,
 * `outside:eth0` towards the wire (around.h). A scenario with one of them needs the other one, too.
 *
 *   port host inside eth0
 *   port net outside eth0
 *
 * The detour begins when both ports have started, and ends as soon as one of them is halted.
 *
 * Ownership: each port owns its side; the interface goes with the later one.
 * Thread: control.
 */
#ifndef WEIR_AROUND_SIDE_H
#define WEIR_AROUND_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

struct around_side;

/* Returns the interface that a device text means, or NULL if it is no side of one. */
const char *around_side_interface(const char *device);

/* Opens the interface, or finds that the other side has done so. Returns 0, or -errno with
 * problem. */
int around_side_open(const char *device, struct around_side **side, struct problem *problem);
/* Returns the device text of the tap. */
const char *around_side_tap(const struct around_side *side);
int around_side_start(struct around_side *side, struct problem *problem);
/* Gives the interface back. */
void around_side_halt(struct around_side *side);
/* NULL is allowed. */
void around_side_close(struct around_side *side);

/* Returns true if the interface is still there. */
bool around_side_is_there(const struct around_side *side);
/* Returns how many packets had no room in the tap so far: real losses. */
uint64_t around_side_lost(const struct around_side *side);

#endif
