/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters in tcpdump's words (pcap-filter(7)), compiled by libpcap for Ethernet and run by
 * libpcap's own interpreter. A filter sees the packet as it came, tags and all: what is behind a
 * VLAN tag is seen after `vlan` only. Addresses are numbers: no name is resolved (filter_words.h).
 *
 * libpcap's time grows with the square of a filter's length, and its optimiser's faster: 249 ports,
 * 4096 bytes, took 16.5 s. So a filter has at most FILTER_BYTES_MAX bytes, and its program at most
 * FILTER_STEPS_MAX steps before it is optimised. Within both, compiling takes some 20 ms and
 * optimising some 60 ms, once per text, however many clouds and changes use it. A check does not
 * optimise. A filter that runs is optimised, whatever that took.
 *
 * Why not rte_bpf_convert: DPDK 22.11 translates loads of one byte at a variable offset wrongly.
 * For `tcp[13] & 2 != 0` its own rte_bpf_exec returns 0 on a SYN where libpcap matches, and the
 * code of its JIT jumps to an invalid address (tests/unit/test_match.c compares such filters with
 * libpcap).
 *
 * Thread: filter_check, making and freeing any; running, the worker's that owns the classifier.
 */
#ifndef WEIR_FILTER_H
#define WEIR_FILTER_H

#include "engine/classifier.h"

#define FILTER_BYTES_MAX 512
#define FILTER_STEPS_MAX 4096

/* For engine_setup. */
extern const struct classifier_filters filters;

/* Whether libpcap takes it: 0, or -EINVAL with problem; its letter is where it goes wrong. */
int filter_check(const char *words, struct problem *problem);

/* Whether it reads bytes of the frame from `from` to before `to`, as far as its program says where
 * it reads. False also of what libpcap does not take. */
bool filter_reads(const char *words, uint32_t from, uint32_t to);

/* Up to which byte of the frame it may read, when a header of IPv4 is as long as can be;
 * UINT32_MAX: where it reads is computed from what it has read. 0 of what libpcap does not take. */
uint32_t filter_reach(const char *words);

#endif
