/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures by name: what a run has measured. Names have parts, `bottleneck.loss`, `plain.goodput`.
 * Ownership: its own memory; results_release.
 * Thread: one.
 */
#ifndef WEIR_LAB_RESULTS_H
#define WEIR_LAB_RESULTS_H

#include <stdint.h>

#define RESULT_NAME_BYTES 96

struct result {
	char name[RESULT_NAME_BYTES];
	double value;
};

struct results {
	struct result *list;
	uint32_t n, room;
	int error; /* the first error: -ENOMEM */
};

/* Adds `part.name`; part NULL: only the name. */
void results_add(struct results *results, const char *part, const char *name, double value);
void results_release(struct results *results);

#endif
