/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory this machine has to give.
 *
 * Thread: any.
 */
#ifndef WEIR_MACHINE_MEMORY_H
#define WEIR_MACHINE_MEMORY_H

#include <stdint.h>

struct machine_memory {
	uint64_t available_bytes; /* MemAvailable: without swapping; huge pages not included */
	uint64_t huge_free_bytes; /* in huge pages of the default size, free and not promised */
	uint64_t huge_page_bytes;
	uint64_t bytes; /* of both */
};

/* Reads `path`, /proc/meminfo or in a test a file like it. 0 or -errno. */
int machine_memory_read(const char *path, struct machine_memory *memory);

#endif
