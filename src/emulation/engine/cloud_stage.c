/* SPDX-License-Identifier: BSD-3-Clause */
/* What stages know of their cloud (stage.h). */
#include "engine/cloud_tell.h"
#include "engine/template.h"

const char *cloud_name(const struct cloud *cloud)
{
	return cloud->name;
}

const char *cloud_template_name(const struct cloud *cloud)
{
	return cloud->of ? cloud->of->name : NULL;
}

simtime cloud_origin_ns(const struct cloud *cloud)
{
	return cloud->origin_ns;
}

struct rte_mempool *cloud_pool(const struct cloud *cloud)
{
	return cloud->holder->pool;
}

struct counters *cloud_counters(struct cloud *cloud)
{
	return &cloud->counters;
}

struct stage *cloud_stage(const struct cloud *cloud, uint16_t i)
{
	return i < cloud->n_stages ? cloud->stages[i] : NULL;
}

bool cloud_unshare(struct cloud *cloud, struct burst *burst, uint32_t i)
{
	if (likely(burst_unshare(burst, i, cloud->holder->pool) != NULL))
		return true;
	cloud_drop(cloud, burst, i, REASON_NO_BUFFER);
	return false;
}

void cloud_marked(struct cloud *cloud, const struct burst *burst, uint32_t i, enum reason reason)
{
	cloud->counters.ecn_marked++;
	if (cloud_tells(cloud, FATE_MARKED))
		cloud_tell_marked(cloud, burst, i, reason);
}
