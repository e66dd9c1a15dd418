/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void results_add(struct results *results, const char *part, const char *name, double value)
{
	struct result *result;

	if (results->n == results->room) {
		uint32_t room = results->room ? 2 * results->room : 32;
		struct result *list = realloc(results->list, room * sizeof(*list));

		if (!list) {
			results->error = -ENOMEM;
			return;
		}
		results->list = list;
		results->room = room;
	}
	result = &results->list[results->n++];
	snprintf(result->name, sizeof(result->name), "%s%s%s", part ? part : "", part ? "." : "",
	         name);
	result->value = value;
}

void results_release(struct results *results)
{
	free(results->list);
	*results = (struct results){0};
}
