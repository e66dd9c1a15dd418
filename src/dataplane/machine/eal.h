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

/*
 * The heap of a live run: one for all threads, without large blocks.
 *
 * If threads allocate at the same time, glibc gives each a heap of its own, up to eight a
 * processor, and a heap keeps the memory that it has once taken. And once a large block (a table of
 * TCP flows, 1.4 MB) has been freed, the next such block comes from a heap, and stays there. Each
 * client of control makes its changes in a thread of its own, so the memory of a weir that runs for
 * hours grew whenever more threads allocated at once than ever before. With these settings, blocks
 * of SHARED_HEAP_LARGE bytes and more are mapped, and go back to the kernel when they are freed.
 * Workers allocate nothing, so no time-critical thread waits for the one heap.
 *
 * Source: mallopt(3), M_ARENA_MAX and M_MMAP_THRESHOLD. Other C libraries are left as they are.
 *
 * Thread: the main thread, before there are others.
 */

#define SHARED_HEAP_LARGE (128 * 1024)

void shared_heap_use(void);

/*
 * Removes what killed weirs have left in the file system: DPDK's folder for the run
 * (/run/dpdk/weir-PID-XXXXXXXX), which is empty and goes at once unless the user gives DPDK more
 * options behind `--`; and, if such options make huge pages with names, files in hugetlbfs, which
 * hold the memory until they are removed.
 *
 * A file or folder is removed if it has a name of weir's, its process is gone, and no process holds
 * a lock on it. DPDK locks its files in hugetlbfs, and weir its folder before DPDK uses it
 * (leftovers_hold), so a weir in another PID namespace keeps its own. Nothing of other programs is
 * touched.
 *
 * Thread: control.
 */

/* Removes what the run `prefix` left or, if `prefix` is NULL, what all runs left whose process is
 * gone. `folder` is where the folders of runs are (/run/dpdk). `root` is put in front of
 * /proc/self/mountinfo, which lists the mounts of hugetlbfs, and of these mounts: "", or a folder
 * for a test. Returns the number of folders and files removed. */
uint32_t leftovers_remove(const char *root, const char *folder, const char *prefix);
/* Makes the folder `run` in `folder`, and holds it until leftovers_release, or the end of the
 * process. Returns -1 if it cannot be made. */
int leftovers_hold(const char *folder, const char *run);
void leftovers_release(int hold);

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

/* Returns whether the EAL would take huge pages for that much memory (eal_start_live). */
bool eal_takes_huge_pages(unsigned memory_mib);

/* Starts the EAL. `cores`: processor numbers for the workers, like 2,4-5; NULL: the last processor
 * that this process may use. `arguments`: what follows `--`. `need_pci`: whether a port is a PCI
 * device. `memory_mib`: what the EAL itself must hold: mempools and rings; packets that the engine
 * holds lie elsewhere. Returns 0, and then `problem` holds a remark for the operator (a NIC
 * without hugepages) or ""; or -errno with problem. */
int eal_start_live(const char *cores, int n_arguments, char **arguments, bool need_pci,
                   unsigned memory_mib, struct problem *problem);
/* Stops the EAL, and removes what it leaves in the file system. */
void eal_stop_live(void);

/*
 * Brings the log of DPDK and its drivers into weir's log (run_log.h). Errors of DPDK become
 * RUN_LOG_INFO there, and the rest RUN_LOG_DEBUG: weir's own messages say what is wrong in terms of
 * the scenario, and quote DPDK where it helps.
 *
 * Thread: start, stop and cause: control. Lines may come from any thread.
 */

/* Begins to take DPDK's lines. May be called before rte_eal_init. If `asked`, the user has chosen
 * what DPDK logs: all its lines become RUN_LOG_NOTICE, and so are seen. */
void eal_log_start(bool asked);
void eal_log_stop(void);
/* Returns the first line that DPDK has logged as an error, without its end of line, and forgets it;
 * "" if there is none. The text is valid until the next call. */
const char *eal_log_cause(void);

#endif
