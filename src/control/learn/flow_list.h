/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of two captures, numbered in the order in which they are first seen. Beyond
 * FLOW_LIST_MAX, flows share the last number, so that memory is bounded.
 *
 * Thread: one.
 */
#ifndef WEIR_FLOW_LIST_H
#define WEIR_FLOW_LIST_H

#include <stdint.h>

#include "learn/packet_mark.h"

#define FLOW_LIST_MAX 65535u

struct flow_list {
	struct packet_ends *ends; /* by number */
	uint64_t *digests;
	uint32_t *slots; /* number + 1 by digest; 0: free */
	uint32_t n;
};

int flow_list_make(struct flow_list *list); /* Returns 0 or -ENOMEM. */
void flow_list_free(struct flow_list *list);
/* Returns the number of a flow; `digest` is that of its ends. */
uint16_t flow_list_number(struct flow_list *list, const struct packet_ends *ends, uint64_t digest);

#endif
