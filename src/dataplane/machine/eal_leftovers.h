/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What killed weirs have left in the file system: DPDK's folder for the run
 * (/run/dpdk/weir-PID-XXXXXXXX), which is empty and goes at once unless `--` gives DPDK more
 * options; and, where `--` makes huge pages with names, files in hugetlbfs, which hold the memory
 * until they are removed.
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

/* Of `prefix`, or of all whose process is gone (NULL): `folder` is where their folders are
 * (/run/dpdk); `root` stands ahead of /proc/self/mountinfo, where the mounts of hugetlbfs stand,
 * and of these: "", or a folder for a test. Returns how many folders and files were removed. */
uint32_t leftovers_remove(const char *root, const char *folder, const char *prefix);
/* Locks the folder of the run until leftovers_release, or the end of the process. -1: it is not
 * there. */
int leftovers_hold(const char *path);
void leftovers_release(int hold);

#endif
