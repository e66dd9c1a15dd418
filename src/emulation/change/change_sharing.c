/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "change/change_state.h"
#include "engine/classifier.h"
#include "match/selection.h"
#include "scenario/port_setting.h"

/* Orders clouds by rank: the lowest is tried first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct plan *x = *(const struct plan *const *)a, *y = *(const struct plan *const *)b;
	uint64_t left = selection_priority(x->conf), right = selection_priority(y->conf);
	bool chooses = selection_chooses(x->conf);

	if (chooses != selection_chooses(y->conf))
		return chooses ? -1 : 1;
	if (chooses && left != right)
		return left < right ? -1 : 1;
	return x < y ? -1 : 1; /* in the order of definition */
}

/* Fills in the clouds from a place, in the order of their ranks. `parts` and `rows` have room for
 * them. */
static int parts_prepare(const struct change *change, const struct place *place, uint32_t n,
                         struct classifier_part *parts, struct match *rows, struct problem *problem)
{
	const struct plan **plans = calloc(n, sizeof(*plans));
	uint32_t i = 0;
	int error = 0;

	if (!plans)
		return -ENOMEM;
	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		plans[i++] = &change->plans[child - 1];
	qsort(plans, n, sizeof(*plans), compare_ranks);
	for (i = 0; i < n && !error; i++) {
		bool exact = false;

		parts[i].cloud = plans[i]->cloud;
		parts[i].template = plans[i]->template;
		if (!selection_chooses(plans[i]->conf)) {
			if (i + 1 == n)
				break;
			problem_set(problem, -1,
			            "%s already leads to cloud %s, which takes the rest: nothing "
			            "is left for %s",
			            plans[i]->conf->from, plans[i]->conf->name,
			            plans[i + 1]->conf->name);
			error = -EINVAL;
			break;
		}
		error = selection_rows(plans[i]->conf, &rows[i], &exact, &parts[i].filter, problem);
		parts[i].rows = exact ? &rows[i] : NULL;
	}
	free(plans);
	return error;
}

/* Makes the classifier of a place, if any cloud comes from it. Returns 0, -ENOMEM, or -EINVAL with
 * problem. */
static int classifier_prepare(struct change *change, struct place *place, struct problem *problem)
{
	struct classifier_part *parts;
	struct match *rows;
	uint32_t n = 0;
	int error = -ENOMEM;

	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		n++;
	if (n == 0)
		return 0;
	parts = calloc(n, sizeof(*parts));
	rows = malloc(n * sizeof(*rows));
	if (parts && rows)
		error = parts_prepare(change, place, n, parts, rows, problem);
	if (!error)
		error = classifier_make(parts, n, change->engine->setup.filters, &place->classifier,
		                        problem);
	if (!error) {
		place->classifier->next = change->cloud_table->classifiers;
		change->cloud_table->classifiers = place->classifier;
	}
	free(parts);
	free(rows);
	return error;
}

int change_classifiers(struct change *change, struct problem *problem)
{
	const struct scenario *next = change->scenario;
	int error;

	for (uint32_t port = 0; port < next->n_ports; port++) {
		struct place *place = &change->ports[port];

		error = classifier_prepare(change, place, problem);
		if (error)
			return error;
		change->cloud_table->ingress[port] =
		        place->classifier ? place->classifier->only : NULL;
		change->cloud_table->classified[port] = place->classifier;
	}
	for (uint32_t i = 0; i < next->n_clouds; i++) {
		error = classifier_prepare(change, &change->plans[i].end, problem);
		if (error)
			return error;
	}
	return 0;
}

/* Returns true if a closed cloud holds nothing. Control calls this while the worker runs. A packet
 * is counted on the line before it is removed from the queue, so in this order none is missed. No
 * packet enters the cloud any more. */
static READS_WHILE_IT_RUNS bool is_empty(const struct cloud *cloud)
{
	return link_held_packets(&cloud->link) == 0 &&
	       __atomic_load_n(&cloud->wake, __ATOMIC_ACQUIRE) == SIMTIME_NEVER &&
	       __atomic_load_n(&cloud->line.held, __ATOMIC_ACQUIRE) == 0;
}

/* Returns true if a cloud is closed and empty. The head of a template stands for all its clouds. */
static bool has_run_out(const struct cloud *cloud)
{
	const struct template *template = cloud->of;
	uint32_t n = template ? template_used(template) : 0;

	for (uint32_t i = 0; cloud->closing && i < n; i++) {
		if (!is_empty(&template->clouds[i]))
			return false;
	}
	return cloud->closing && is_empty(cloud);
}

/* Returns true if the cloud is looked at on its own account: of a template, only the head is. */
static bool is_seen(const struct cloud *cloud)
{
	return cloud && (!cloud->of || cloud->of->head == cloud);
}

static void slots_empty(struct cloud_table *cloud_table, const struct cloud *cloud)
{
	uint32_t n = cloud->of ? cloud->of->most : 0;

	for (uint32_t i = cloud->index - n; i <= cloud->index; i++)
		cloud_table->slots[i] = NULL;
}

static struct cloud_change *item_add(struct change *change, struct cloud *cloud)
{
	struct cloud_change *item = &change->clouds[change->n_clouds++];

	item->cloud = cloud;
	return item;
}

/* How many clouds lead to a port, and how many generate packets that may leave there. */
struct feeders {
	uint32_t clouds[SCENARIO_PORTS_MAX], answers[SCENARIO_PORTS_MAX];
};

static bool feeders_meet(const struct feeders *feeders, uint32_t port)
{
	return feeders->clouds[port] + feeders->answers[port] > 1;
}

/* Returns true unless the cloud is direct. A direct cloud leads from a port to a port to which no
 * other cloud leads and at which nothing that another cloud generates leaves. It generates nothing
 * itself, because an answer has its place among the events of all clouds. Once shared, a cloud
 * stays shared. */
static bool is_shared(const struct change *change, const struct plan *plan,
                      const struct feeders *feeders)
{
	return plan->template || plan->cloud->events ||
	       feeders_meet(feeders, plan->cloud->exit->port) || plan->end.classifier ||
	       plan->generates || scenario_find_port(change->scenario, plan->conf->from) < 0;
}

/* Returns true unless the line is the cloud's own, which it is if no other cloud leads to its port
 * and its packets enter no other cloud. Once shared, a line stays shared. */
static bool line_is_shared(const struct plan *plan, const struct feeders *feeders)
{
	return plan->template || plan->cloud->line.shared ||
	       feeders->clouds[plan->cloud->exit->port] > 1 || plan->end.classifier;
}

static void feeders_add(struct feeders *feeders, const struct cloud *cloud, bool generates)
{
	feeders->clouds[cloud->exit->port]++;
	feeders->answers[cloud->from_port] += generates;
}

static void own_line_add(struct cloud_table *cloud_table, struct cloud *cloud)
{
	cloud_table->own[cloud_table->n_own++] = cloud;
	cloud_table->own_at[cloud->exit->port] = cloud;
}

/* Closes the clouds that the next scenario lacks. They deliver at their port what they hold, and go
 * when they are empty. `kept[slot]` tells which clouds stay. */
static void closing_prepare(struct change *change, const bool *kept, struct feeders *feeders)
{
	struct cloud_table *now = change->engine->cloud_table;

	for (uint32_t i = 0; i < now->n_slots; i = cloud_table_behind(now, i)) {
		struct cloud *cloud = now->slots[i];

		if (!is_seen(cloud) || kept[i])
			continue;
		change->removes = true;
		if (has_run_out(cloud)) {
			change->gone[change->n_gone++] = cloud;
			slots_empty(change->cloud_table, cloud);
			continue;
		}
		feeders_add(feeders, cloud, cloud->generates);
		item_add(change, cloud)->closing = true;
	}
}

/* Returns how much earlier packets of the cloud are handed over, to compensate latencies. Packets
 * that may enter another cloud are not compensated: they would enter it before their time. */
static simtime early(const struct change *change, const struct plan *plan)
{
	const struct port_conf *ports = change->scenario->ports;
	const struct cloud *cloud = plan->cloud;

	if (!cloud->compensates_latency || plan->end.classifier)
		return 0;
	return port_setting_early_ns(&ports[cloud->from_port], &ports[cloud->exit->port]);
}

static int sharing_prepare(struct change *change, const struct feeders *feeders)
{
	const struct scenario *next = change->scenario;
	struct cloud_table *cloud_table = change->cloud_table;
	uint32_t closing = change->n_clouds;
	bool shared = false;

	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct plan *plan = &change->plans[i];
		bool shares, line_shares;

		if (!plan->cloud)
			continue;
		shares = is_shared(change, plan, feeders);
		line_shares = line_is_shared(plan, feeders);
		if (!line_shares)
			own_line_add(cloud_table, plan->cloud);
		shared |= shares;
		if (plan->added || plan->settings || plan->change ||
		    shares != (bool)plan->cloud->events ||
		    line_shares != (bool)plan->cloud->line.shared || plan->end.classifier ||
		    plan->cloud->exit->classifier || plan->back != plan->cloud->exit->back) {
			struct cloud_change *item = item_add(change, plan->cloud);

			item->added = plan->added;
			item->shared = shares;
			item->line_shared = line_shares;
			item->generates = plan->generates;
			item->classifier = plan->end.classifier;
			item->back = plan->back;
			item->early_ns = early(change, plan);
		}
	}
	for (uint32_t i = 0; i < closing; i++) {
		struct cloud_change *item = &change->clouds[i];

		item->shared =
		        item->cloud->events || feeders_meet(feeders, item->cloud->exit->port);
		item->line_shared =
		        item->cloud->line.shared || feeders->clouds[item->cloud->exit->port] > 1;
		shared |= item->shared;
		if (!item->line_shared)
			own_line_add(cloud_table, item->cloud);
	}
	if (!shared)
		return 0;
	if (!change->engine->events.wheel) {
		change->wheel = wheel_make(&change->engine->holder.arena);
		if (!change->wheel)
			return -ENOMEM;
	}
	/* Twice as many as now, so that few changes move the timers. */
	if (change->engine->events.timers.room < cloud_table->n_slots)
		return timers_make(&change->timers, 2 * cloud_table->n_slots);
	return 0;
}

int change_sharing(struct change *change)
{
	const struct scenario *next = change->scenario;
	struct feeders feeders = {0};
	bool *kept = calloc(change->cloud_table->n_slots + 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct cloud *cloud = change->plans[i].cloud;

		if (!cloud)
			continue;
		kept[cloud->index] = true;
		feeders_add(&feeders, cloud, change->plans[i].generates);
	}
	closing_prepare(change, kept, &feeders);
	free(kept);
	return sharing_prepare(change, &feeders);
}
