/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/tallied.h"

#include <errno.h>
#include <string.h>

#include "scenario/orders.h"

struct finding {
	struct tallied *tallied;
	uint32_t n;
	const struct conf *within;
};

static void add(struct finding *finding, struct conf *conf, const char *state)
{
	if (finding->n == TALLIES_MAX || !conf || !statement_acts(conf->statement))
		return;
	finding->tallied[finding->n++] = (struct tallied){conf, finding->within, state};
}

static void add_orders(struct finding *finding, const struct orders *orders, const char *state)
{
	for (uint32_t i = 0; i < orders->n; i++)
		add(finding, orders->order[i].conf, state);
}

static void add_schedule(struct finding *finding, struct conf *conf)
{
	finding->within = conf;
	add(finding, conf, NULL);
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		const void *at = (const char *)conf + field->offset;
		const struct states *states = at;

		if (field->type == FIELD_ORDERS)
			add_orders(finding, at, NULL);
		for (uint32_t i = 0; field->type == FIELD_STATES && i < states->n; i++)
			add_orders(finding, &states->state[i].orders, states->state[i].name);
	}
}

uint32_t tallied_find(const struct cloud_conf *cloud, struct tallied tallied[TALLIES_MAX])
{
	struct finding finding = {.tallied = tallied};

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->role != ROLE_SCHEDULE)
			add(&finding, cloud->confs[i], NULL);
	}
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->role == ROLE_SCHEDULE)
			add_schedule(&finding, cloud->confs[i]);
	}
	return finding.n;
}

int tallied_position(const struct cloud_conf *cloud, const struct conf *conf)
{
	struct tallied tallied[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, tallied);

	for (uint32_t i = 0; i < n; i++) {
		if (tallied[i].conf == conf)
			return (int)i;
	}
	return -1;
}

/* The numbers of schedules are their positions, and change when another one is removed. */
static bool is_same(const struct tallied *a, const struct tallied *b)
{
	if (!a->within != !b->within || !a->state != !b->state)
		return false;
	if (!a->within)
		return conf_equal(a->conf, b->conf);
	return conf_alike(a->within, b->within) && (!a->state || strcmp(a->state, b->state) == 0) &&
	       (a->conf == a->within || conf_equal(a->conf, b->conf));
}

int tallied_give(struct cloud_conf *cloud, const struct cloud_conf *before)
{
	struct tallied now[TALLIES_MAX], then[TALLIES_MAX];
	uint32_t n = tallied_find(cloud, now), m = before ? tallied_find(before, then) : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < m && !is_same(&now[i], &then[k]))
			k++;
		tally_release(now[i].conf->tally);
		now[i].conf->tally = k < m ? tally_hold(then[k].conf->tally) : tally_make();
		if (!now[i].conf->tally)
			return -ENOMEM;
	}
	return 0;
}
