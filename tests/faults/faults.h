/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail on purpose, in the whole command.
 *
 * `weir-faults` is weir, linked with --wrap: calls from weir's own objects come to faults.c and
 * faults_stream.c first, calls among libraries do not. So weir has to handle each fault, never
 * DPDK, libpcap or libc. jansson allocates through weir (alloc_failure.h), and so through here.
 *
 * A *page*, a file of FAULTS_PAGE_BYTES named by the environment variable WEIR_FAULTS, selects the
 * call that fails. The test maps it, too, so that it can request a fault while weir runs, and read
 * how many calls there were, and where the refused one came from. Without the variable nothing
 * fails.
 *
 * Kinds:
 *   memory   malloc and its like; streams in memory; mmap
 *   mbuf     an mbuf, or a burst of them, out of a mempool; a copy of a packet
 *   write    the write, the flush, the close, the renaming of a file
 *   system   opening, reading, threads, sockets
 *   ring     not a failure of its own: that ring is made with room for one, so that it is full as
 *            soon as anything waits in it
 *   dpdk     calls of DPDK that set something up
 *   network  namespaces, options of sockets and devices, packets that the kernel takes
 *
 * Thread: any; the count is atomic.
 */
#ifndef WEIR_FAULTS_H
#define WEIR_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_MEMORY = 1,
	FAULT_MBUF = 2,
	FAULT_WRITE = 4,
	FAULT_SYSTEM = 8,
	FAULT_RING = 16,
	FAULT_DPDK = 32,
	FAULT_NETWORK = 64,
};

#define FAULTS_FRAMES     16
#define FAULTS_PAGE_BYTES 4096

/* Words of 64 bits, in this order; faults.py writes the first three, and reads the others. */
struct faults_page {
	uint64_t kinds;   /* those that are counted, and may fail */
	uint64_t at;      /* the call that fails, from 1; 0: none */
	uint64_t onwards; /* not 0: and all calls after it */
	uint64_t counted; /* calls of these kinds */
	uint64_t refused;
	uint64_t n_frames; /* the stack of the first refused call: offsets in this program */
	uint64_t frames[FAULTS_FRAMES];
	char call[64]; /* its name */
};

/* To be called once, before anything may fail. */
void faults_begin(void);
/* Returns true if this call must fail. */
bool fault(enum fault_kind kind, const char *call);
/* Redirects the mempool ops registered so far, so that getting mbufs may fail. */
void faults_mempools(void);

#endif
