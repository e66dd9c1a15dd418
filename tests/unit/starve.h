/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes memory run out on purpose. In a program linked with starve_dep, the n-th allocation of the
 * code under test fails, and all after it.
 */
#ifndef WEIR_STARVE_H
#define WEIR_STARVE_H

#include <stdint.h>

/* Makes all allocations fail after this many more. */
void starve_after(uint64_t allocations);
/* Ends that. Returns how many allocations have failed. */
uint64_t starve_end(void);

#endif
