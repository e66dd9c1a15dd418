/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_capture [--NAME VALUE]... FILE: makes a capture as described in trace.h, for the shell tests
 * and for measurements. Values are plain numbers in the unit of the name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static struct trace trace = {
        .packets = 1000,
        .bytes = 100,
        .start_ns = UINT64_C(1500000000000000000),
        .gap_ns = 100000,
};

static int set(const char *name, uint64_t value)
{
	const struct {
		const char *name;
		uint64_t *wide;
		uint32_t *narrow;
		bool *flag;
	} known[] = {
	        {"packets", &trace.packets, NULL, NULL},
	        {"bytes", NULL, &trace.bytes, NULL},
	        {"bytes-max", NULL, &trace.bytes_max, NULL},
	        {"wire-extra", NULL, &trace.wire_extra, NULL},
	        {"start-ns", &trace.start_ns, NULL, NULL},
	        {"gap-ns", &trace.gap_ns, NULL, NULL},
	        {"jitter-ns", &trace.jitter_ns, NULL, NULL},
	        {"back-every", &trace.back_every, NULL, NULL},
	        {"back-ns", &trace.back_ns, NULL, NULL},
	        {"both", NULL, NULL, &trace.both},
	        {"microseconds", NULL, NULL, &trace.microseconds},
	        {"pcapng", NULL, NULL, &trace.pcapng},
	        {"link-type", NULL, (uint32_t *)&trace.link_type, NULL},
	        {"cut-bytes", &trace.cut_bytes, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		if (known[i].wide)
			*known[i].wide = value;
		else if (known[i].narrow)
			*known[i].narrow = (uint32_t)value;
		else
			*known[i].flag = value != 0;
		return 0;
	}
	fprintf(stderr, "make_capture: --%s: not known; see tests/replay/trace.h\n", name);
	return -1;
}

int main(int argc, char **argv)
{
	int at = 1;

	for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
		if (set(argv[at] + 2, strtoull(argv[at + 1], NULL, 10)))
			return 2;
	}
	if (at + 1 != argc) {
		fprintf(stderr, "usage: make_capture [--NAME VALUE]... FILE\n");
		return 2;
	}
	if (trace_write(&trace, argv[at])) {
		perror(argv[at]);
		return 1;
	}
	return 0;
}
