/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_PROBLEM_H
#define WEIR_PROBLEM_H

#include <stdint.h>

/* An error in a configuration, as a sentence that says what would be right. `field` is the index of
 * the field to point at, or -1. */
struct problem {
	int field;
	uint32_t letter; /* position to point at in a text that takes the rest of the line */
	uint32_t port;   /* the port of the scenario that it concerns, from 1; or 0 */
	char text[480];
};

/* Returns -EINVAL, so that a function can end with `return problem_set(...)`. */
int problem_set(struct problem *problem, int field, const char *format, ...)
        __attribute__((format(__printf__, 3, 4)));

#endif
