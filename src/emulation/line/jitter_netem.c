/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/jitter_netem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Converts a deviation to a 16-bit entry of a table, and back to ns. */
static int64_t entry_of(int64_t deviation_ns, double jitter_ns)
{
	double units = rint((double)deviation_ns * JITTER_NETEM_UNIT / jitter_ns);

	units = fmin(fmax(units, INT16_MIN), INT16_MAX);
	return llround(units * jitter_ns / JITTER_NETEM_UNIT);
}

static int64_t quantile(const struct distribution *table, double p)
{
	return p < 0.5 ? distribution_quantile(table, p, 0)
	               : distribution_quantile(table, 1 - p, 1);
}

int jitter_netem_make(struct jitter_netem *netem, probability_q63 correlation, uint64_t jitter_ns,
                      const struct distribution *table)
{
	*netem = (struct jitter_netem){.rho = netem_share(correlation), .wide_ns = 2 * jitter_ns};
	if (!table)
		return 0;
	netem->n = table->form == DISTRIBUTION_GRID ? table->n : JITTER_NETEM_ENTRIES;
	netem->entry = calloc(netem->n, sizeof(*netem->entry));
	if (!netem->entry)
		return -ENOMEM;
	for (uint32_t i = 0; i < netem->n; i++)
		netem->entry[i] =
		        table->form == DISTRIBUTION_GRID
		                ? table->value[i]
		                : entry_of(quantile(table, (i + 0.5) / JITTER_NETEM_ENTRIES),
		                           (double)jitter_ns);
	return 0;
}

void jitter_netem_release(struct jitter_netem *netem)
{
	free(netem->entry);
	netem->entry = NULL;
}
