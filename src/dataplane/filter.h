/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters in tcpdump's words (pcap-filter(7)), compiled by libpcap for Ethernet, and run on mbufs: as
 * machine code where DPDK can translate them (rte_bpf_convert, rte_bpf_load), else by libpcap's own
 * interpreter. A filter sees the packet as it came, tags and all: what is behind a VLAN tag is seen
 * after `vlan` only. Names of hosts are looked up when the filter is made.
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
