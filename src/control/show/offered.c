/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/offered.h"

#include <string.h>

#include "engine/engine_report.h"
#include "show/line_delay.h"
#include "statements.h"

/* Returns the place of the first statement of this name in the table; -1 for "". */
static int rank_of(const char *name)
{
	for (int i = 0; statements[i]; i++) {
		if (strcmp(statements[i]->name, name) == 0)
			return i;
	}
	return -1;
}

/* Returns true if a stage before this rank may have lacked memory, now or by a schedule. */
static bool has_stage_before(const struct cloud_conf *cloud, int rank)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct statement *statement = cloud->confs[i]->statement;

		if (statement->role == ROLE_SCHEDULE ||
		    (statement->role == ROLE_STAGE && rank_of(statement->name) < rank))
			return true;
	}
	return false;
}

bool offered_packets(const struct cloud_conf *cloud, const struct cloud_report *report,
                     const struct conf *conf, uint64_t *packets)
{
	const struct counters *c = &report->counters;
	const int rank = rank_of(conf->statement->name);
	uint64_t came = c->rx_packets + c->joined, gone = c->carried;

	if (conf->statement->role == ROLE_LINE) {
		*packets = report->delay_ns.count;
		return !line_delay_of_all(cloud, report);
	}
	if (rank_of("duplicate") < rank)
		came += c->duplicated;
	for (int i = 0; i < REASON_COUNT; i++) {
		const char *stage = reason_stage((enum reason)i);

		if (stage && rank_of(stage) < rank)
			gone += c->drops[i];
	}
	if (conf->statement->role != ROLE_STAGE)
		gone += c->drops[REASON_LIMIT];
	/* The words are of slightly different moments. */
	*packets = came > gone ? came - gone : 0;
	return c->drops[REASON_NO_BUFFER] == 0 || !has_stage_before(cloud, rank);
}
