/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures made for tests: every frame contains its own number, so that the frames in the output of
 * a replay can be distinguished. The same description gives the same bytes.
 */
#ifndef WEIR_TEST_TRACE_H
#define WEIR_TEST_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace {
	uint64_t packets;
	uint32_t bytes;      /* of the first frame */
	uint32_t bytes_max;  /* frames grow by a byte up to this, then start again; 0: never */
	uint32_t wire_extra; /* bytes on the wire that the capture lacks */
	uint64_t start_ns, gap_ns;
	uint64_t jitter_ns;  /* instants are later by 0 .. jitter_ns, in a fixed pattern */
	uint64_t back_every; /* one frame in this number is stamped back_ns earlier; 0: none */
	uint64_t back_ns;
	bool both; /* every other frame comes from the other side: ...:0b, 10.0.1.1 */
	bool microseconds;
	bool pcapng;
	int link_type;      /* 0: Ethernet */
	uint64_t cut_bytes; /* removed from the end of the file */
};

/* Returns 0, or -1 with errno set. */
int trace_write(const struct trace *trace, const char *path);
/* Returns the instant of frame i (from 0), and its number of bytes in the capture. */
uint64_t trace_instant_ns(const struct trace *trace, uint64_t i);
uint32_t trace_bytes(const struct trace *trace, uint64_t i);

#endif
