/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/tallies.h"

#include <stdlib.h>

#include "account/counter_read.h"
#include "scenario/tallied.h"
#include "snapshot/snapshot.h"

/* ---- control ---- */

struct tallies *tallies_make(const struct cloud_conf *cloud)
{
	struct tallied tallied[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, tallied);
	struct tallies *tallies = calloc(1, sizeof(*tallies) + n * sizeof(tallies->tally[0]));

	if (!tallies)
		return NULL;
	for (; tallies->n < n; tallies->n++)
		tallies->tally[tallies->n] = tally_hold(tallied[tallies->n].conf->tally);
	return tallies;
}

bool tallies_are(const struct tallies *tallies, const struct cloud_conf *cloud)
{
	struct tallied tallied[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, tallied);

	if (n != (tallies ? tallies->n : 0))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (tallies->tally[i] != tallied[i].conf->tally)
			return false;
	}
	return true;
}

void tallies_free(struct tallies *tallies)
{
	for (uint32_t i = 0; tallies && i < tallies->n; i++)
		tally_release(tallies->tally[i]);
	free(tallies);
}

uint32_t tallies_read(const struct cloud *cloud, struct tally copy[TALLIES_MAX])
{
	const struct tallies *tallies = __atomic_load_n(&cloud->tallies, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; tallies && i < tallies->n; i++) {
		copy[i].came = counter_read(&tallies->tally[i]->came);
		copy[i].acted = counter_read(&tallies->tally[i]->acted);
	}
	return tallies ? tallies->n : 0;
}

/* ---- worker ---- */

void tallies_exchange(struct cloud *cloud, struct tallies **tallies)
{
	struct tallies *old = cloud->tallies;

	__atomic_store_n(&cloud->tallies, *tallies, __ATOMIC_RELEASE);
	*tallies = old;
}

void tallies_clear(struct cloud *cloud)
{
	for (uint32_t i = 0; cloud->tallies && i < cloud->tallies->n; i++)
		cloud->tallies->tally[i]->came = cloud->tallies->tally[i]->acted = 0;
}

/* The list follows from the scenario. */
void tallies_snapshot(struct cloud *cloud, struct snapshot *snapshot)
{
	for (uint32_t i = 0; cloud->tallies && i < cloud->tallies->n; i++) {
		snapshot_value(snapshot, cloud->tallies->tally[i]->came);
		snapshot_value(snapshot, cloud->tallies->tally[i]->acted);
	}
}
