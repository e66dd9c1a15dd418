/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts DPDK's environment abstraction layer (EAL) for a live run: with hugepages if there are
 * enough, else without (reported if a port is a NIC, with the cost); with a main lcore for control
 * and one lcore a worker. A replay and the lab do without the EAL (offline_pool.h).
 *
 * Thread: the main thread, once a process.
 */
#ifndef WEIR_EAL_H
#define WEIR_EAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_config.h>

#include "scenario/problem.h"

/* What the EAL's heap holds beside `memory_mib` in a live run: rings, ports, drivers. */
#define EAL_OWN_MIB 32
/* What DPDK reserves for variables of lcores, from 24.11 on: data of the process, most of it never
 * touched. */
#ifdef RTE_MAX_LCORE_VAR
#define EAL_LCORE_BYTES ((uint64_t)RTE_MAX_LCORE_VAR * RTE_MAX_LCORE)
#else
#define EAL_LCORE_BYTES UINT64_C(0)
#endif

/* Write the two texts about huge pages that all messages share: how many are free and needed, and
 * the command that reserves them. `text` has EAL_HUGE_TEXT bytes. */
#define EAL_HUGE_TEXT 160
void eal_huge_needed(char *text, uint64_t free_mib, unsigned needed_mib);
void eal_huge_remedy(char *text, unsigned needed_mib);
/* Writes both texts for a process that has too few huge pages, or whose limits forbid them. */
struct machine_memory;
void eal_huge_lacking(const struct machine_memory *machine, unsigned needed_mib, char *needed,
                      char *remedy);

/* Starts the EAL. `cores`: processor numbers for the workers, like 2,4-5; NULL: the last processor
 * that this process may use. `arguments`: what follows `--`. `need_pci`: whether a port is a PCI
 * device. `memory_mib`: what the EAL itself must hold: mempools and rings; packets that the engine
 * holds lie elsewhere. Returns 0, and then `problem` holds a remark for the operator (a NIC
 * without hugepages) or ""; or -errno with problem. */
int eal_start_live(const char *cores, int n_arguments, char **arguments, bool need_pci,
                   unsigned memory_mib, struct problem *problem);
/* Stops the EAL, and removes what it leaves in the file system. */
void eal_stop_live(void);

#endif
