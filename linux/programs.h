/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BPF object files, embedded in weir-host: embed_objects.py generates programs.c from them.
 */
#ifndef WEIR_LINUX_PROGRAMS_H
#define WEIR_LINUX_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

struct program {
	const uint8_t *bytes;
	size_t n;
};

extern const struct program program_becn, program_ecn_becn, program_limited;

#endif
