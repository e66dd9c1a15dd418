/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipeline: three roles on workers of their own, as the microengines of the IXP emulator were.
 *
 * ports -> rx -> ring -> emulation (one or more, each with its engine) -> rings -> tx -> ports
 *
 * rx stamps packets with the instant of its poll and hands them to the worker that has the clouds
 * of that port. It polls all ports with one reading of the clock, so each ring is in the order of
 * time. An engine must not be advanced past an instant at which a packet may still come. So rx
 * publishes after each poll the instant below which it will not stamp any more. Emulation reads
 * that first, then empties its ring, and advances no further than that instant.
 *
 * If a ring is full, rx does not receive: packets are lost in the device, where they are counted as
 * missed, and not in weir.
 *
 * Thread: the lcore's.
 */
#ifndef WEIR_PIPELINE_H
#define WEIR_PIPELINE_H

#include <stdbool.h>

#include "simtime.h"

#define PIPELINE_RING 4096

struct worker;

bool pipeline_receive(struct worker *worker, simtime now);
/* Emulates what rx has stamped. The engine's time is that of rx; `now` only affects the lateness of
 * what is sent. */
bool pipeline_emulate(struct worker *worker, simtime now);

#endif
