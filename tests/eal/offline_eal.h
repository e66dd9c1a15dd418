/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment abstraction layer for tests that need rings or DPDK's own pools: no root, no
 * hugepages, no PCI, no shared configuration, one lcore, no threads but the caller's; silent. weir
 * itself needs none offline (offline_pool.h).
 *
 * Thread: the main thread, once a process.
 */
#ifndef WEIR_OFFLINE_EAL_H
#define WEIR_OFFLINE_EAL_H

#include "scenario/problem.h"

/* `memory_mib`: for mempools and rings, which the EAL holds; the memory of engines lies elsewhere.
 * Returns 0, or -errno with problem. */
int offline_eal_start(unsigned memory_mib, struct problem *problem);
void offline_eal_stop(void);

#endif
