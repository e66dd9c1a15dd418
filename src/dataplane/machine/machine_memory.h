/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory this process can have: the one place that computes it, for `weir check`,
 * `weir run` and the start of DPDK.
 *
 * Pages: the least of what the machine has available, what its control groups leave (cgroup.h), and
 * what its own limit of data (RLIMIT_DATA, `ulimit -d`) leaves. Huge pages: those that are free and
 * not reserved, of each size, as far as the control groups and the limit of file size let them
 * (RLIMIT_FSIZE, `ulimit -f`: to DPDK each is a file). Beside them the limits of address space
 * (RLIMIT_AS, `ulimit -v`) and, for a process without the right to lock any amount, of locked
 * memory (RLIMIT_MEMLOCK, `ulimit -l`).
 *
 * Thread: any; reads files and nothing else.
 */
#ifndef WEIR_MACHINE_MEMORY_H
#define WEIR_MACHINE_MEMORY_H

#include <stdint.h>

#define MEMORY_LIMIT_TEXT 256

struct memory_limit {
	uint64_t free_bytes; /* UINT64_MAX: there is no limit */
	/* What limits it, in words, as
	 * `memory.max of the cgroup /lab is 150 MiB, 12 MiB of it in use`; "": the machine itself,
	 * or nothing. */
	char text[MEMORY_LIMIT_TEXT];
};

struct machine_memory {
	struct memory_limit pages;
	struct memory_limit address; /* of addresses, used or not */
	struct memory_limit locked;  /* what devices may write to: VFIO, AF_XDP */
	/* of all sizes; 0 where the address space is limited: DPDK maps much more than it takes */
	uint64_t huge_free_bytes;
	/* The option of ulimit that forbids them, 'v' or 'f'; or 0. */
	char huge_forbidden;
};

/* `root` stands ahead of /proc and /sys: "" for this machine, a folder for a test. 0, or -errno:
 * not even /proc/meminfo can be read. */
int machine_memory_read(const char *root, struct machine_memory *memory);

#endif
