/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory the control groups of this process leave it.
 *
 * Both versions are asked, because a machine may have both (hybrid): of v1 the hierarchy that has
 * the controller, of v2 the only one. Where a group lies is what /proc/self/cgroup says, and under
 * which folder its hierarchy is mounted what /proc/self/mountinfo says: a container sees a part of
 * it. Every group from that of the process up to the mount counts, because each one limits what is
 * below it.
 *
 * What a group has left is its limit less what it uses; pages of files count as free, as they do in
 * MemAvailable, because the kernel takes them back before it kills. `memory.high` counts as a
 * limit, too: who is above it is slowed down until nothing is on time.
 *
 * What cannot be read limits nothing: groups above the mount of a container, for one, but for what
 * v1 says of them (hierarchical_memory_limit).
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
	char file[48]; /* what says so: `memory.max` */
	/* which group: `/system.slice/lab.service`, its end if it is long */
	char group[CGROUP_TEXT_BYTES];
};

/* The group that leaves least memory; false: none limits it. `root` stands ahead of /proc and of
 * the mounts: "" for this machine, a folder for a test. */
bool cgroup_memory(const char *root, struct cgroup_room *room);
/* The same of huge pages of one size. */
bool cgroup_huge_pages(const char *root, uint64_t page_bytes, struct cgroup_room *room);

#endif
