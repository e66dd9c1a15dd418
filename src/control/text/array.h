/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array on the heap that grows with its elements.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ARRAY_H
#define WEIR_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for n elements of `bytes` each. `array` is the address of the pointer to the first;
 * `*room`, for how many there is room, at least doubles if it is not enough. Returns false if there
 * is no memory; then the array is as it was. */
bool array_fits(void *array, size_t *room, size_t n, size_t bytes);

#endif
