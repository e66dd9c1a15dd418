/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges several captures. */
#include <errno.h>
#include <stdlib.h>

#include "capture/capture.h"

int capture_merge_start(struct capture_merge *merge, struct capture *const *captures, uint32_t n)
{
	*merge = (struct capture_merge){.captures = captures, .n = n, .taken = n};
	merge->heads = calloc(n, sizeof(*merge->heads));
	merge->live = calloc(n, sizeof(*merge->live));
	if (n > 0 && (!merge->heads || !merge->live)) {
		capture_merge_stop(merge);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		merge->live[i] = capture_next(captures[i], &merge->heads[i]);
	return 0;
}

void capture_merge_stop(struct capture_merge *merge)
{
	free(merge->heads);
	free(merge->live);
	merge->heads = NULL;
	merge->live = NULL;
	merge->n = 0;
}

const struct capture_frame *capture_merge_next(struct capture_merge *merge, uint32_t *from)
{
	uint32_t first = merge->n;

	/* The reader is advanced only now, because that invalidates the bytes of the frame it
	 * returned. */
	if (merge->taken < merge->n)
		merge->live[merge->taken] =
		        capture_next(merge->captures[merge->taken], &merge->heads[merge->taken]);
	for (uint32_t i = 0; i < merge->n; i++) {
		if (merge->live[i] &&
		    (first == merge->n || merge->heads[i].t_ns < merge->heads[first].t_ns))
			first = i;
	}
	merge->taken = first;
	if (first == merge->n)
		return NULL;
	*from = first;
	return &merge->heads[first];
}
