/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters in tcpdump's syntax (pcap-filter(7)), compiled by libpcap for Ethernet and run by
 * libpcap's own interpreter. A filter is applied to the packet as it came, tags included: what is
 * behind a VLAN tag is seen only after `vlan`. Addresses are numbers: no name is resolved
 * (below).
 *
 * The time that libpcap takes grows with the square of a filter's length, and that of its optimiser
 * grows faster: 249 ports, 4096 bytes, took 16.5 s. So a filter has at most FILTER_BYTES_MAX bytes,
 * and its program at most FILTER_STEPS_MAX steps before it is optimised. Within both limits,
 * compiling takes some 20 ms and optimising some 60 ms, once per text, however many clouds and
 * changes use it. A check optimises short programs only, to refuse what no packet can fit. A filter
 * that runs is optimised, however long that takes.
 *
 * Why not rte_bpf_convert: DPDK 22.11 translates loads of one byte at a variable offset wrongly.
 * For `tcp[13] & 2 != 0` its own rte_bpf_exec returns 0 on a SYN where libpcap matches, and the
 * code of its JIT jumps to an invalid address (tests/unit/test_match.c compares such filters with
 * libpcap).
 *
 * Thread: filter_check, making and freeing: any. Running: the worker that owns the classifier.
 */
#ifndef WEIR_FILTER_H
#define WEIR_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/classifier.h"

#define FILTER_BYTES_MAX 512
#define FILTER_STEPS_MAX 4096

/* Passed to the engine in engine_setup. */
extern const struct classifier_filters filters;

/* Checks whether libpcap accepts the filter. Returns 0, or -errno with problem: -EINVAL, and
 * problem->letter is the position at which the filter is wrong; or -ENOMEM. */
int filter_check(const char *words, struct problem *problem);

struct sock_filter; /* linux/filter.h: a step of a program, as libpcap has it */

/* Makes the program of a filter, which the caller frees. Returns 0, or -errno with problem, as
 * filter_check. */
int filter_steps(const char *words, struct sock_filter **steps, uint32_t *n,
                 struct problem *problem);

/* Returns true if the filter reads bytes of the frame from `from` to before `to`, as far as its
 * program shows where it reads. Returns false if libpcap does not accept it. */
bool filter_reads(const char *words, uint32_t from, uint32_t to);

/* Returns the end of the bytes of the frame that the filter may read if an IPv4 header has its
 * greatest length. Returns UINT32_MAX if it computes the position from what it has read, and 0 if
 * libpcap does not accept it. */
uint32_t filter_reach(const char *words);

/*
 * Checks the words of a filter before libpcap sees them. libpcap passes every word that it does not
 * know, and that stands where an address may stand, to the resolver, and the resolver queries the
 * network. So such a word is refused here. Addresses are numbers. Names are accepted for ports and
 * protocols only, whose files lie on this machine (/etc/services, /etc/protocols).
 *
 * The words are split as libpcap 1.10 splits them (its token ID: letters, digits, and `-_.`
 * within). A word is accepted if it is known, a number, an address, or the name of a port or
 * protocol. Such a name stands right behind `port`, `portrange`, `proto`, `protochain`, `type` or
 * `subtype`, or behind another such name and `or`. A later libpcap knows more words. They are
 * refused until they are added to the list, because an older libpcap would resolve them.
 *
 * Thread: pure, any.
 */

/* Returns false if a name that would have to be resolved stands at words[*at]; it has *bytes
 * bytes. */
bool filter_words_numeric(const char *words, size_t *at, size_t *bytes);

#endif
