/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes what killed weirs have left in the file system: DPDK's folder for the run
 * (/run/dpdk/weir-PID-XXXXXXXX), which is empty and goes at once unless the user gives DPDK more
 * options behind `--`; and, if such options make huge pages with names, files in hugetlbfs, which
 * hold the memory until they are removed.
 *
 * A file or folder is removed if it has a name of weir's, its process is gone, and no process holds
 * a lock on it. DPDK locks its files in hugetlbfs, and weir its folder (leftovers_hold), so a weir
 * in another PID namespace keeps its own. Nothing of other programs is touched.
 *
 * Thread: control.
 */
#ifndef WEIR_EAL_LEFTOVERS_H
#define WEIR_EAL_LEFTOVERS_H

#include <stdint.h>

/* Removes what the run `prefix` left or, if `prefix` is NULL, what all runs left whose process is
 * gone. `folder` is where the folders of runs are (/run/dpdk). `root` is put in front of
 * /proc/self/mountinfo, which lists the mounts of hugetlbfs, and of these mounts: "", or a folder
 * for a test. Returns the number of folders and files removed. */
uint32_t leftovers_remove(const char *root, const char *folder, const char *prefix);
/* Locks the folder of the run until leftovers_release, or the end of the process. Returns -1 if it
 * cannot be opened. */
int leftovers_hold(const char *path);
void leftovers_release(int hold);

#endif
