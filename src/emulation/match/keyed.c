/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/keyed.h"

#include <string.h>

#include "match/flows.h"
#include "match/selection.h"
#include "scenario/statement.h"

const char *const keyed_words[] = {
        [KEYED_CLOUD] = "cloud", [KEYED_FLOW] = "flow", [KEYED_CONNECTION] = "connection", NULL};

/* Returns the index of the field `keyed`, or -1. Sets *as_netem if the flag of that name is set. */
static int keyed_field(const struct conf *conf, bool *as_netem)
{
	const struct field *fields = conf->statement->fields;
	int found = -1;

	*as_netem = false;
	for (int i = 0; fields && fields[i].name; i++) {
		if (fields[i].words == keyed_words)
			found = i;
		if (fields[i].type == FIELD_FLAG && strcmp(fields[i].name, "as-netem") == 0)
			*as_netem = *(const bool *)((const char *)conf + fields[i].offset);
	}
	return found;
}

enum keyed keyed_of(const struct conf *conf)
{
	bool as_netem;
	int field = keyed_field(conf, &as_netem);

	if (field < 0)
		return KEYED_CLOUD;
	return (enum keyed) *
	       (const uint32_t *)(const void *)((const char *)conf +
	                                        conf->statement->fields[field].offset);
}

int keyed_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem)
{
	bool as_netem;
	int field = keyed_field(conf, &as_netem);

	if (keyed_of(conf) == KEYED_CLOUD)
		return 0;
	if (as_netem)
		return problem_set(problem, field,
		                   "netem draws for packets in the order in which they come; leave "
		                   "`keyed` or `as-netem` out");
	return selection_check_copies(cloud, flows_bytes(true), problem);
}
