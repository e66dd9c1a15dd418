/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const struct result *results_find(const struct results *results, const char *name)
{
	for (uint32_t i = 0; i < results->n; i++)
		if (strcmp(results->list[i].name, name) == 0)
			return &results->list[i];
	return NULL;
}

void results_release(struct results *results)
{
	free(results->list);
	*results = (struct results){0};
}
