/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/late.h"

#include "units/human_unit.h"
#include "text/table.h"

#define DIGITS 3

void late_text(const struct histogram *late, char *text, size_t size)
{
	char p50[HUMAN_UNIT_SIZE], p99[HUMAN_UNIT_SIZE], max[HUMAN_UNIT_SIZE];

	human_unit_format(p50, sizeof(p50), HUMAN_NS, (double)histogram_percentile(late, 500000),
	                  DIGITS);
	human_unit_format(p99, sizeof(p99), HUMAN_NS, (double)histogram_percentile(late, 990000),
	                  DIGITS);
	human_unit_format(max, sizeof(max), HUMAN_NS, (double)late->max, DIGITS);
	snprintf(text, size, "p50 %s, p99 %s, max %s", p50, p99, max);
}

void late_cells(struct table *table, const struct histogram *late)
{
	table_percentile(table, late, 500000);
	table_percentile(table, late, 990000);
	table_time(table, late->count > 0, (double)late->max);
}

bool late_warn(FILE *out, const char *before, const char *port, const struct histogram *late,
               simtime from_ns, const char *remedy)
{
	const uint64_t p99_ns = histogram_percentile(late, 990000);
	char p99[HUMAN_UNIT_SIZE], max[HUMAN_UNIT_SIZE];

	if (late->count == 0 || p99_ns <= from_ns)
		return false;
	human_unit_format(p99, sizeof(p99), HUMAN_NS, (double)p99_ns, DIGITS);
	human_unit_format(max, sizeof(max), HUMAN_NS, (double)late->max, DIGITS);
	fprintf(out,
	        "%swarning: one packet in a hundred leaves port %s %s late or more, the latest %s; "
	        "%s\n",
	        before, port, p99, max, remedy);
	return true;
}
