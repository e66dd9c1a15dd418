/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine's memory, which mostly has the same size. The memory of an earlier rig is used again,
 * as it was left; the first memory is filled with bytes other than 0. glibc would overwrite it each
 * time under MALLOC_PERTURB_, which meson sets; that took most of the suite's time.
 *
 * AddressSanitizer takes milliseconds to allocate and free so much memory, so memory that is given
 * back is poisoned by hand. A use of it is detected until the memory of seven more rigs has been
 * given back: as long as in the quarantine of 256 MiB.
 *
 * Thread: one.
 */
#ifndef WEIR_RIG_MEMORY_H
#define WEIR_RIG_MEMORY_H

#include <stddef.h>

/* Returns NULL if there is no memory. */
void *rig_memory_take(size_t bytes);
void rig_memory_give_back(void *memory, size_t bytes);

#endif
