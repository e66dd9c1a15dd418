/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out on purpose. A program linked with starve_dep lets the n-th allocation of the
 * code under test fail, and all after it.
 */
#ifndef WEIR_STARVE_H
#define WEIR_STARVE_H

#include <stdint.h>

/* After this many more successful allocations there is no memory. */
void starve_after(uint64_t allocations);
/* There is memory again. Returns how many allocations were refused. */
uint64_t starve_end(void);

#endif
