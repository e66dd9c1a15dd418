/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A response in the kernel: its BPF object, the congestion control, and the XDP program on an
 * interface.
 *
 * An attachment lasts as long as its file descriptor, so the kernel removes it when weir-host ends,
 * whatever signal ends it: the congestion control by a link (Linux 6.4 and later), XDP by a link
 * (5.9). Before 6.4, a congestion control stays registered if SIGKILL ends weir-host. In any case,
 * connections that use it keep it until they end. Thread: one.
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
	bool linked;       /* this kernel has links for congestion controls */
	int response_link; /* that link, if libbpf does not create it; otherwise -1 */
	int totals, path;  /* maps, owned by object; -1: none */
	char error[KERNEL_SIDE_ERROR_BYTES];
};

/* Whether the warnings of libbpf and the verifier go to standard error, too. */
extern bool kernel_side_verbose;

/* Returns 0, or -errno with `error` set and nothing attached. If `interface` is NULL, the XDP
 * program is not attached. */
int kernel_side_attach(struct kernel_side *side, const struct response *response,
                       const char *interface, uint32_t bit);
void kernel_side_detach(struct kernel_side *side);

/* Return 0 or -errno. */
int kernel_side_totals(const struct kernel_side *side, struct totals *totals);
int kernel_side_inform(const struct kernel_side *side, const struct path_figures *figures);

#endif
