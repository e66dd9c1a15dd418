/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory the control groups of this process leave it.
 *
 * A machine may have both versions of control groups (hybrid), so both are read: of v1 the
 * hierarchy that has the controller, of v2 the only one. /proc/self/cgroup has the path of the
 * group, and /proc/self/mountinfo the folder where its hierarchy is mounted; a container sees a
 * part of it. Every group from that of the process up to the mount counts, since each limits the
 * groups below it.
 *
 * A group leaves its limit less what it uses. Pages of files count as free, as in MemAvailable: the
 * kernel reclaims them before it kills. `memory.high` counts as a limit, too: the kernel slows a
 * process above it down until nothing is on time.
 *
 * A file that cannot be read, for example of a group above the mount of a container, limits
 * nothing. The exception is v1's own figure of such groups (hierarchical_memory_limit).
 *
 * Thread: any; reads files and nothing else.
 */
#ifndef WEIR_CGROUP_H
#define WEIR_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_TEXT_BYTES 100

struct cgroup_room {
	uint64_t free_bytes, limit_bytes;
	char file[48]; /* the file with the limit: `memory.max` */
	/* the group: `/system.slice/lab.service`; only its end if it is long */
	char group[CGROUP_TEXT_BYTES];
};

/* Finds the group that leaves the least memory. Returns false if no group limits it. `root` is put
 * in front of /proc and of the mounts: "" for this machine, a folder for a test. */
bool cgroup_memory(const char *root, struct cgroup_room *room);
/* Does the same for huge pages of one size. */
bool cgroup_huge_pages(const char *root, uint64_t page_bytes, struct cgroup_room *room);

#endif
