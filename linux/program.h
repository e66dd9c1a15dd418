/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common beginning of the BPF programs here: the helpers, the tables, and the licence string.
 * For struct_ops, the kernel requires one that is compatible with the GPL; "Dual BSD/GPL" is the
 * kernel's name for BSD-3-Clause.
 */
#ifndef WEIR_LINUX_PROGRAM_H
#define WEIR_LINUX_PROGRAM_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel.h"
#include "tables.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct totals);
} totals SEC(".maps");

static const uint32_t first = 0;

/* Never returns NULL, but the verifier requires the check. */
static inline __attribute__((always_inline)) struct totals *totals_of_all(void)
{
	return bpf_map_lookup_elem(&totals, &first);
}

#define COUNT(name, n)                                                                             \
	do {                                                                                       \
		struct totals *all = totals_of_all();                                              \
		if (all)                                                                           \
			__sync_fetch_and_add(&all->name, (n));                                     \
	} while (0)

#endif
