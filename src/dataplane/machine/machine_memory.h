/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how much memory this process can have: the one place for it, used by `weir check`, `weir
 * run` and the start of DPDK.
 *
 * Pages: the least of what the machine has available, what its control groups leave, and
 * what the process's own limit of data (RLIMIT_DATA, `ulimit -d`) leaves. Huge pages: those that
 * are free and not reserved, of each size, as far as the control groups and the limit of file size
 * allow them (RLIMIT_FSIZE, `ulimit -f`: DPDK uses each as a file). Beside them the limits of
 * address space (RLIMIT_AS, `ulimit -v`) and, for a process without the right to lock any amount,
 * of locked memory (RLIMIT_MEMLOCK, `ulimit -l`).
 *
 * Thread: any; reads files and nothing else.
 */
#ifndef WEIR_MACHINE_MEMORY_H
#define WEIR_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_LIMIT_TEXT 256

struct memory_limit {
	uint64_t free_bytes; /* UINT64_MAX: no limit */
	/* The cause of the limit in words, as `memory.max of the cgroup /lab is 150 MiB, 12 MiB of
	 * it in use`; "": the machine itself, or no limit. */
	char text[MEMORY_LIMIT_TEXT];
};

struct machine_memory {
	struct memory_limit pages;
	struct memory_limit address; /* of addresses, used or not */
	struct memory_limit locked;  /* what devices may write to: VFIO, AF_XDP */
	/* of all sizes; 0 if the address space is limited: DPDK maps much more than it uses */
	uint64_t huge_free_bytes;
	/* The option of ulimit that forbids huge pages, 'v' or 'f'; or 0. */
	char huge_forbidden;
};

/* Reads all of it. `root` is put in front of /proc and /sys: "" for this machine, a folder for a
 * test. Returns 0, or -errno if /proc/meminfo cannot be read. */
int machine_memory_read(const char *root, struct machine_memory *memory);

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
 */

#define CGROUP_TEXT_BYTES 100

struct cgroup_room {
	uint64_t free_bytes, limit_bytes;
	char file[48]; /* the file with the limit: `memory.max` */
	/* the group: `/system.slice/lab.service`; only its end if it is long */
	char group[CGROUP_TEXT_BYTES];
};

#endif
