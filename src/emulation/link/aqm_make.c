/* SPDX-License-Identifier: BSD-3-Clause */
/* The making of managements, by control. A cloud's queue uses them in engine/cloud_aqm.c. */
#include <string.h>

#include "link/aqm.h"
#include "link/link.h"
#include "link/rate.h"
#include "scenario/scenario.h"
#include "stage/stage.h"
#include "snapshot/snapshot.h"

int aqm_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem)
{
	if (!cloud_conf_get(cloud, "rate"))
		return problem_set(
		        problem, -1,
		        "there is no queue to manage: give cloud `%s` a `rate`, like `cloud %s "
		        "rate 10mbit`",
		        cloud->name, cloud->name);
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct conf *other = cloud->confs[i];

		if (other->statement->scoped && !conf->scope[0])
			return problem_set(
			        problem, -1,
			        "the link has classes with a queue each: name the class, like "
			        "`cloud %s class %s %s ...`",
			        cloud->name, other->scope, conf->statement->name);
		/* An AQM of the same name is the one that is replaced. */
		if (other->statement->role != ROLE_AQM ||
		    strcmp(other->statement->name, conf->statement->name) == 0 ||
		    strcmp(other->scope, conf->scope) != 0)
			continue;
		return problem_set(
		        problem, -1,
		        "a queue has one management: `no cloud %s %s` first, or leave out `%s`",
		        cloud->name, other->statement->name, conf->statement->name);
	}
	return 0;
}

int aqm_check_bands(const struct conf *conf, const struct cloud_conf *cloud,
                    struct problem *problem)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(cloud, "rate");
	const char *name = conf->statement->name;

	if (conf->scope[0])
		return problem_set(
		        problem, -1,
		        "%s is a scheduler itself, and manages the queue of a link, not that of a "
		        "class: use `codel` or `pie` here, or leave the classes out",
		        name);
	if (rate && rate->drop == RATE_DROP_HEAD)
		return problem_set(
		        problem, -1,
		        "%s itself chooses which packet a full queue drops: leave `drop head` "
		        "out of `rate`",
		        name);
	return aqm_check(conf, cloud, problem);
}

const struct conf *aqm_beside(const struct conf *conf, const struct cloud_conf *cloud,
                              const char *name)
{
	const struct conf *own = cloud_conf_scoped(cloud, conf->scope, name);

	return own ? own : cloud_conf_get(cloud, name);
}

void aqm_key(struct aqm *aqm, uint64_t seed, const char *scope)
{
	const struct statement *statement = aqm->statement;
	char purpose[96];

	__builtin_snprintf(purpose, sizeof(purpose), "%s %s%s%s", statement->name,
	                   statement->variant ? statement->variant : "", scope[0] ? " of " : "",
	                   scope);
	aqm->key = draw_key_make(seed, cloud_name(aqm->cloud), purpose);
}

int aqm_make(uint64_t seed, struct cloud *cloud, const struct cloud_conf *conf, const char *scope,
             struct aqm **aqm)
{
	const struct conf *own = NULL;
	const struct aqm_kind *kind;
	int error;

	*aqm = NULL;
	for (uint32_t i = 0; i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->role == ROLE_AQM &&
		    strcmp(conf->confs[i]->scope, scope) == 0)
			own = conf->confs[i];
	}
	if (!own)
		return 0;
	kind = own->statement->aqm;
	error = kind->make(own, conf, aqm);
	if (error)
		return error;
	(*aqm)->kind = kind;
	(*aqm)->takes_groups |= !(kind->arrive || kind->settled || kind->bands);
	(*aqm)->statement = own->statement;
	(*aqm)->cloud = cloud;
	aqm_key(*aqm, seed, scope);
	return 0;
}

void aqm_report(const struct aqm *aqm, struct aqm_report *report)
{
	report->name = aqm ? aqm->statement->name : NULL;
	report->n_figures =
	        aqm && aqm->kind->figures ? aqm->kind->figures(aqm, report->figures) : 0;
}

void aqm_free(struct aqm *aqm)
{
	if (aqm && aqm->kind->free)
		aqm->kind->free(aqm);
	else
		free(aqm);
}

/* ---- worker ---- */

void aqm_take_over(struct aqm *aqm, const struct aqm *old, const struct queue *queue,
                   uint64_t drawn, simtime now)
{
	bool goes_on = old && old->statement == aqm->statement;

	/* No draw is repeated: neither one of the old AQM, nor its own, nor one of a former AQM. */
	aqm->drawn = RTE_MAX(aqm->drawn, goes_on ? old->drawn : drawn);
	if (goes_on && aqm->kind->adopt) {
		aqm->kind->adopt(aqm, old);
		return;
	}
	if (!goes_on && aqm->kind->begin)
		aqm->kind->begin(aqm);
	if (queue->held_packets == 0 && now != SIMTIME_NEVER)
		aqm_idle(aqm, now);
}

void aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	snapshot_value(snapshot, aqm->drawn);
	if (aqm->kind->snapshot)
		aqm->kind->snapshot(aqm, snapshot);
}
