/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The levels of x86-64 as the psABI has them (x86-64 psABI 1.0, 3.1.1, "Micro-Architecture
 * Levels"), of which each has all that the one before it has, and which of them a processor has.
 *
 * Thread: any.
 */
#ifndef WEIR_LAUNCHER_LEVEL_H
#define WEIR_LAUNCHER_LEVEL_H

/* The lowest one that weir is built for, and the highest. */
#define LEVEL_LEAST 2
#define LEVEL_MOST  4

/* The highest one that this processor has, and the kernel lets be used; LEVEL_LEAST at least: with
 * less DPDK refuses to start. */
int level_of_processor(void);

#endif
