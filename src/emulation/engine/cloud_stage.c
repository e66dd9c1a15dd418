/* SPDX-License-Identifier: BSD-3-Clause */
/* What stages know of their cloud (stage.h). */
#include "engine/cloud.h"
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

struct rte_mbuf *cloud_unshare(struct cloud *cloud, struct rte_mbuf *mbuf)
{
	struct rte_mbuf *own = copy_unshare(cloud->holder->pool, mbuf);

	if (unlikely(!own))
		cloud_drop(cloud, mbuf, REASON_NO_BUFFER);
	return own;
}
