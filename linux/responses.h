/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The congestion controls of weir-host. Each has a row in responses.c, a BPF program, and a line in
 * meson.build.
 */
#ifndef WEIR_LINUX_RESPONSES_H
#define WEIR_LINUX_RESPONSES_H

#include <stdbool.h>
#include <stdint.h>

#include "programs.h"

struct response {
	const char *word; /* on weir-host's command line */
	const char *name; /* in the kernel: net.ipv4.tcp_congestion_control, iperf3 -C */
	const char *help;
	bool quenched; /* uses the XDP program of quench_xdp.h */
	bool informed; /* uses the table `path` */
	const struct program *program;
};

extern const struct response responses[];
extern const uint32_t responses_n;

#endif
