/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters in tcpdump's words (pcap-filter(7)), compiled by libpcap for Ethernet and run by libpcap's
 * own interpreter. A filter sees the packet as it came, tags and all: what is behind a VLAN tag is
 * seen after `vlan` only. Names of hosts are looked up when the filter is made.
 *
 * Why not rte_bpf_convert: DPDK 22.11 translates loads of one byte at a variable place wrongly. For
 * `tcp[13] & 2 != 0` its own rte_bpf_exec says 0 on a SYN where libpcap says yes, and what its JIT
 * makes of it jumps into nowhere (tests/unit/test_match.c holds such filters against libpcap).
 *
 * Thread: filter_check and making control's; running, the worker's that owns the fork.
 */
#ifndef WEIR_FILTER_H
#define WEIR_FILTER_H

#include "fork.h"

/* For engine_setup. */
extern const struct fork_filters filters;

/* Whether libpcap takes it: 0, or -EINVAL with problem; its letter is where it goes wrong. */
int filter_check(const char *words, struct problem *problem);

#endif
