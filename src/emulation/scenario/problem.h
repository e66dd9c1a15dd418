/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_PROBLEM_H
#define WEIR_PROBLEM_H

#include <stdint.h>

/* What is wrong with a configuration, in a sentence that says what would be right; `field` is the
 * index of the field to point at, or -1. */
struct problem {
	int field;
	uint32_t letter; /* of a text that takes the rest of the line: what to point at */
	uint32_t port;   /* of the scenario, from 1, if it is about one; 0: it is not */
	char text[480];
};

void problem_set(struct problem *problem, int field, const char *format, ...)
        __attribute__((format(__printf__, 3, 4)));

#endif
