/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The obstacles to an emulation that an interface shows, each with its remedy: no packet passes, or
 * packets pass beside weir, or are falsified. `weir check` and `weir run` print this list.
 *
 * A bridge or a bond takes the packets of the interfaces that belong to it. If an interface has an
 * address, the kernel answers for itself. A driver of DPDK's takes frames as the kernel's offloads
 * leave them; a packet socket finishes them.
 *
 * Thread: any; reads from the kernel.
 */
#ifndef WEIR_OBSTACLE_H
#define WEIR_OBSTACLE_H

#include <stdint.h>

#include "port/interface_look.h"

#define OBSTACLES_MAX  6
#define OBSTACLE_BYTES 400

struct obstacles {
	uint32_t n;
	char texts[OBSTACLES_MAX][OBSTACLE_BYTES];
};

/* `by_driver`: a driver of DPDK's opens the interface, and not weir's packet socket. */
void obstacles_find(const struct interface_look *look, bool by_driver, struct obstacles *obstacles);

/* Adds one, unless there are OBSTACLES_MAX. */
void obstacle_add(struct obstacles *obstacles, const char *format, ...)
        __attribute__((format(__printf__, 2, 3)));

#endif
