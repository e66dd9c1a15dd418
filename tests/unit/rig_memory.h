/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine's memory, most often of the same size: that of a rig before is used again, as it was
 * left, and the first comes filled with what is no nought. glibc would overwrite it each time under
 * MALLOC_PERTURB_, which meson sets, and that took most of the suite's time.
 *
 * AddressSanitizer takes milliseconds to allocate and to free so much, so it is told by hand that
 * memory is given back. It sees who still uses it until the memory of seven more rigs is: as long
 * as the 256 MiB that it keeps of what was freed would do.
 *
 * Thread: one.
 */
#ifndef WEIR_RIG_MEMORY_H
#define WEIR_RIG_MEMORY_H

#include <stddef.h>

/* NULL: there is none. */
void *rig_memory_take(size_t bytes);
void rig_memory_give_back(void *memory, size_t bytes);

#endif
