/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MATCH_FILTER_H
#define WEIR_MATCH_FILTER_H

#include <stdint.h>

struct problem;
struct rte_mbuf;

/* Filters of libpcap, which the engine does not know: engine_setup brings them. */
struct classifier_filter;
struct classifier_filters {
	/* Control: 0, -EINVAL with problem, -ENOMEM. */
	int (*make)(const char *words, struct classifier_filter **filter, struct problem *problem);
	void (*free)(struct classifier_filter *filter);
	/* Worker: bit i, whether packet i fits; n <= BURST_MAX. */
	uint32_t (*fit)(const struct classifier_filter *filter, struct rte_mbuf *const *mbufs,
	                uint32_t n);
};

#endif
