/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine uses no clock, no global random source, no device, no file and no socket. Every source
 * file of emulation/ and feedback/ is compiled with this header ahead of it: a file that uses one
 * of these names, or includes a header that declares one, does not compile. The headers that the
 * engine may use are included first, because DPDK's own headers mention some of the names.
 */
#ifndef WEIR_FORBIDDEN_H
#define WEIR_FORBIDDEN_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

/* With _FORTIFY_SOURCE, clang has them as macros, which cannot be poisoned. */
#undef printf
#undef fprintf

#pragma GCC poison rte_rdtsc rte_rdtsc_precise rte_get_tsc_cycles rte_get_timer_cycles
#pragma GCC poison rte_get_tsc_hz rte_get_timer_hz rte_delay_us rte_delay_ms __rdtsc
#pragma GCC poison clock_gettime gettimeofday clock_nanosleep nanosleep usleep
#pragma GCC poison rte_rand rte_rand_max drand48 lrand48 getrandom
#pragma GCC poison rte_eth_rx_burst rte_eth_tx_burst pcap_next_ex pcap_open_offline
#pragma GCC poison printf fprintf puts fopen fwrite fread socket sendto recvfrom
#pragma GCC poison rte_red_enqueue rte_sched_port_enqueue rte_timer_manage

#endif
