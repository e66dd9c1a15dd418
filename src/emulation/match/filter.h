/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MATCH_FILTER_H
#define WEIR_MATCH_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct burst;
struct problem;

/* Filters of libpcap, which the engine does not know: engine_setup brings them. */
struct classifier_filter;
struct classifier_filters {
	/* Control: 0, -EINVAL with problem, -ENOMEM. */
	int (*make)(const char *words, struct classifier_filter **filter, struct problem *problem);
	void (*free)(struct classifier_filter *filter);
	/* Worker: whether packet i fits. */
	bool (*fits)(const struct classifier_filter *filter, const struct burst *burst, uint32_t i);
};

#endif
