/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The levels of x86-64 as the psABI defines them (x86-64 psABI 1.0, 3.1.1, "Micro-Architecture
 * Levels"), each of which includes the one before it, and the level of a processor.
 *
 * Thread: any.
 */
#ifndef WEIR_LAUNCHER_LEVEL_H
#define WEIR_LAUNCHER_LEVEL_H

/* The lowest and the highest level that weir is built for. */
#define LEVEL_LEAST 2
#define LEVEL_MOST  4

/* Returns the highest level that this processor has and the kernel allows; at least LEVEL_LEAST:
 * with less DPDK refuses to start. */
int level_of_processor(void);

#endif
