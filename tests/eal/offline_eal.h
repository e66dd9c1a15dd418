/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment abstraction layer for tests that need rings or DPDK's own pools: no root, no
 * hugepages, no PCI, no shared configuration, one lcore, no threads but the caller's; silent. What
 * weir itself does offline needs none (offline_pool.h).
 *
 * Thread: the main thread, once a process.
 */
#ifndef WEIR_OFFLINE_EAL_H
#define WEIR_OFFLINE_EAL_H

#include "scenario/problem.h"

/* `memory_mib`: what the EAL itself must hold: mempools and rings; packets held by the engine lie
 * elsewhere. 0, or -errno with problem. */
int offline_eal_start(unsigned memory_mib, struct problem *problem);
void offline_eal_stop(void);

#endif
