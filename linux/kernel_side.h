/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A response in the kernel: its BPF object, the congestion control, and the XDP program on an
 * interface.
 *
 * What is attached lives as long as its file descriptors, so that it is gone when weir-host ends,
 * by whatever signal: the congestion control by a link (Linux 6.4 and later), XDP by a link (5.9).
 * Before 6.4 a congestion control stays when weir-host is killed by SIGKILL. Connections that have
 * it keep it until they end, in any case. Thread: one.
 */
#ifndef WEIR_LINUX_KERNEL_SIDE_H
#define WEIR_LINUX_KERNEL_SIDE_H

#include <stdbool.h>

#include "responses.h"
#include "tables.h"

#define KERNEL_SIDE_ERROR_BYTES 512

struct bpf_link;
struct bpf_object;

struct kernel_side {
	struct bpf_object *object;
	struct bpf_link *response, *quench;
	bool linked;       /* this kernel has links of congestion controls */
	int response_link; /* -1, or that link where libbpf knows no such thing */
	int totals, path;  /* maps; owned by object. -1: none */
	char error[KERNEL_SIDE_ERROR_BYTES];
};

/* Whether what libbpf and the verifier say goes to standard error, too. */
extern bool kernel_side_verbose;

/* 0, or -errno with `error`; then nothing is attached. `interface` NULL: no XDP. */
int kernel_side_attach(struct kernel_side *side, const struct response *response,
                       const char *interface, uint32_t bit);
void kernel_side_detach(struct kernel_side *side);

/* 0 or -errno. */
int kernel_side_totals(const struct kernel_side *side, struct totals *totals);
int kernel_side_inform(const struct kernel_side *side, const struct path_figures *figures);

#endif
