/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The congestion controls that weir-host brings: a row in responses.c, a BPF program, and a line of
 * meson.
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
	bool quenched; /* has the XDP program of quench_xdp.h */
	bool informed; /* has the table `path` */
	const struct program *program;
};

extern const struct response responses[];
extern const uint32_t responses_n;

#endif
