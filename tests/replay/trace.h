/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures made for tests: every frame says its own number, so that what comes out of a replay can
 * be told apart, and the same description gives the same bytes.
 */
#ifndef WEIR_TEST_TRACE_H
#define WEIR_TEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace {
	uint64_t packets;
	uint32_t bytes;      /* of the first frame */
	uint32_t bytes_max;  /* frames grow by one byte up to this, and start again; 0: all alike */
	uint32_t wire_extra; /* bytes that the capture did not keep */
	uint64_t start_ns, gap_ns;
	uint64_t jitter_ns;  /* instants are moved by 0 .. jitter_ns, in a fixed pattern */
	uint64_t back_every; /* each so many packets one is stamped back_ns earlier; 0: never */
	uint64_t back_ns;
	bool both; /* every other frame comes from the other side: ...:0b, 10.0.1.1 */
	bool microseconds;
	bool pcapng;
	int link_type;      /* 0: Ethernet */
	uint64_t cut_bytes; /* taken away from the end of the file */
};

/* 0, or -1 with errno. */
int trace_write(const struct trace *trace, const char *path);
/* The instant of frame i (from 0), and its number of bytes in the capture. */
uint64_t trace_instant_ns(const struct trace *trace, uint64_t i);
uint32_t trace_bytes(const struct trace *trace, uint64_t i);

#endif
