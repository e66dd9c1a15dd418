/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MATCH_FILTER_H
#define WEIR_MATCH_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct burst;
struct problem;

/* Filters of libpcap. The engine gets these functions with engine_setup, and does not know
 * libpcap. */
struct classifier_filter;
struct classifier_filters {
	/* Returns 0, -EINVAL with problem, or -ENOMEM. Thread: control. */
	int (*make)(const char *words, struct classifier_filter **filter, struct problem *problem);
	void (*free)(struct classifier_filter *filter);
	/* Returns true if packet i fits. Thread: worker. */
	bool (*fits)(const struct classifier_filter *filter, const struct burst *burst, uint32_t i);
};

#endif
