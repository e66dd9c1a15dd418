/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/flow.h"
#include "lab/measure.h"
#include "random/draw.h"

/* A group's loss, before what is in flight has arrived. */
struct run_loss {
	uint32_t at; /* in the results */
	double sent;
};

struct run_group {
	const char *name;
	const struct group_conf *conf;
	struct tcp_conf tcp;
	struct flow *flows;
	struct flow_mark *marks; /* of each flow, at the end of the warm-up */
	uint32_t n_flows;
	struct run_loss loss;
};

struct run_voice {
	const char *name;
	struct voice voice;
	struct voice_counters mark;
	struct run_loss loss;
};

struct run_web {
	const char *name;
	struct web web;
	struct run_loss loss;
};

struct run {
	const struct plan *plan;
	struct world world;
	struct run_group groups[PLAN_GROUPS_MAX];
	uint32_t n_groups;
	struct run_voice voices[PLAN_GROUPS_MAX];
	uint32_t n_voices;
	struct run_web webs[PLAN_GROUPS_MAX];
	uint32_t n_webs;
	struct gauge *gauges; /* one per cloud, in the order of the scenario */
	struct timer sampler;
	struct problem *problem;
};

/* Returns a draw from 0 to below `range`. */
static simtime uniform(const struct draw_key key, uint64_t index, simtime range)
{
	return range ? draw_index(draw_u64(key, index, 0), range) : 0;
}

static int flow_make(struct run *run, struct run_group *group, uint32_t index,
                     const uint32_t ends[2])
{
	const struct group_conf *conf = group->conf;
	uint64_t seed = run->plan->seed;
	struct draw_key start = draw_key_make(seed, group->name, "start");
	struct draw_key boot = draw_key_make(seed, group->name, "boot");
	simtime delay_ns = conf->delay_ns;
	struct host *from, *to;
	int error;

	if (conf->delay_max_ns > delay_ns && conf->count > 1)
		delay_ns += (conf->delay_max_ns - delay_ns) * index / (conf->count - 1);
	from = world_host(&run->world, ends[0], conf->access_bps, delay_ns);
	to = world_host(&run->world, ends[1], conf->access_bps, conf->delay_ns);
	if (!from || !to)
		return -ENOMEM;
	from->first_port = to->first_port = (uint16_t)conf->port;
	error = flow_open(&group->flows[index], from, to, &group->tcp,
	                  uniform(boot, index, conf->tick_ns), conf->ack_delay_ns);
	if (error)
		return error;
	group->n_flows++;
	flow_begin(&group->flows[index], conf->start_ns + uniform(start, index, conf->spread_ns),
	           TCP_UNLIMITED);
	return 0;
}

static int ends_find(const struct run *run, const char *group, const char *const names[2],
                     uint32_t ends[2])
{

	for (int i = 0; i < 2; i++) {
		int found = network_find_switch(&run->world.network, names[i]);

		if (found < 0) {
			problem_set(run->problem, -1,
			            "group %s: no link ends at a switch called `%s`", group,
			            names[i]);
			return -EINVAL;
		}
		ends[i] = (uint32_t)found;
	}
	if (run->world.network.hops[ends[0]][ends[1]] == NETWORK_NO_WAY) {
		problem_set(run->problem, -1,
		            "group %s: there is no route from %s to %s; links must join them",
		            group, names[0], names[1]);
		return -EINVAL;
	}
	return 0;
}

static int group_make(struct run *run, const struct plan_group *plan)
{
	struct run_group *group = &run->groups[run->n_groups++];
	const char *const names[2] = {plan->conf->from, plan->conf->to};
	uint32_t ends[2];
	int error;

	group->name = plan->name;
	group->conf = plan->conf;
	error = group_tcp_conf(plan->conf, &group->tcp, run->problem);
	if (!error)
		error = ends_find(run, plan->name, names, ends);
	if (error)
		return error;
	group->flows = calloc(plan->conf->count + 1, sizeof(*group->flows));
	group->marks = calloc(plan->conf->count + 1, sizeof(*group->marks));
	if (!group->flows || !group->marks)
		goto err_memory;
	for (uint32_t i = 0; i < plan->conf->count; i++)
		if (flow_make(run, group, i, ends) < 0)
			goto err_memory;
	return 0;

err_memory:
	problem_set(run->problem, -1, "group %s: no memory for %" PRIu64 " flows", plan->name,
	            plan->conf->count);
	return -ENOMEM;
}

/* Opens the calls. The links of their hosts take no time. */
static int voice_make(struct run *run, const struct plan_voice *plan)
{
	const char *const names[2] = {plan->conf->from, plan->conf->to};
	struct run_voice *voice = &run->voices[run->n_voices++];
	struct host *from, *to;
	uint32_t ends[2];
	int error = ends_find(run, plan->name, names, ends);

	if (error)
		return error;
	voice->name = plan->name;
	from = world_host(&run->world, ends[0], 0, 0);
	to = world_host(&run->world, ends[1], 0, 0);
	if (from && to &&
	    voice_open(&voice->voice, plan->conf, plan->name, run->plan->seed, from, to) == 0)
		return 0;
	problem_set(run->problem, -1, "group %s: no memory for its calls", plan->name);
	return -ENOMEM;
}

static int web_make(struct run *run, const struct plan_web *plan)
{
	const struct group_conf *group = &plan->conf->group;
	const char *const names[2] = {group->from, group->to};
	struct run_web *web = &run->webs[run->n_webs++];
	uint32_t ends[2];
	int error = ends_find(run, plan->name, names, ends);

	web->name = plan->name;
	return error ? error
	             : web_open(&web->web, &run->world, plan->conf, plan->name, run->plan->seed,
	                        ends, run->problem);
}

static void groups_release(struct run *run)
{
	for (uint32_t i = 0; i < run->n_webs; i++)
		web_close(&run->webs[i].web);
	for (uint32_t i = 0; i < run->n_voices; i++)
		voice_close(&run->voices[i].voice);
	for (uint32_t i = 0; i < run->n_groups; i++) {
		struct run_group *group = &run->groups[i];

		for (uint32_t k = 0; k < group->n_flows; k++)
			flow_close(&group->flows[k]);
		free(group->flows);
		free(group->marks);
	}
}

/* ---- sampling ---- */

static double group_bytes(const struct run_group *group)
{
	double packets = 0;

	for (uint32_t i = 0; i < group->n_flows; i++)
		packets += (double)group->flows[i].sink.counters.in_order;
	return packets * group->tcp.packet_bytes;
}

static void sample(void *argument, simtime now)
{
	struct run *run = argument;
	const struct plan *plan = run->plan;
	const struct run_watch *watch = plan->watch;

	for (uint32_t i = 0; i < run->world.scenario->n_clouds; i++) {
		struct gauge *gauge = &run->gauges[i];

		gauge_sample(gauge, now > plan->warmup_ns);
		if (watch && watch->sample)
			watch->sample(watch->argument, gauge->cloud, now, gauge->queue_bytes,
			              gauge->average_bytes);
	}
	for (uint32_t i = 0; watch && watch->goodput && i < run->n_groups; i++)
		watch->goodput(watch->argument, run->groups[i].name, now,
		               group_bytes(&run->groups[i]));
	for (uint32_t i = 0; watch && watch->window && i < run->n_groups; i++)
		for (uint32_t k = 0; k < run->groups[i].n_flows; k++)
			watch->window(watch->argument, run->groups[i].name, k, now,
			              run->groups[i].flows[k].tcp.cwnd);
	timer_set(&run->world.heap, &run->sampler, now + plan->sample_ns);
}

/* Returns the first cloud of the other direction, or NULL. */
static const struct cloud_conf *opposite_of(const struct scenario *scenario,
                                            const struct cloud_conf *cloud)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		if (strcmp(scenario->clouds[i]->from, cloud->to) == 0 &&
		    strcmp(scenario->clouds[i]->to, cloud->from) == 0)
			return scenario->clouds[i];
	return NULL;
}

static int sampler_make(struct run *run)
{
	const struct scenario *scenario = run->world.scenario;

	run->gauges = calloc(scenario->n_clouds + 1, sizeof(*run->gauges));
	run->sampler = (struct timer){.fire = sample, .argument = run};
	if (!run->gauges || heap_announce(&run->world.heap) < 0)
		goto err_memory;
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		if (gauge_open(&run->gauges[i], scenario->clouds[i],
		               opposite_of(scenario, scenario->clouds[i]), run->world.engine,
		               &run->world.heap) < 0)
			goto err_memory;
	timer_set(&run->world.heap, &run->sampler, run->plan->sample_ns);
	return 0;

err_memory:
	problem_set(run->problem, -1, "no memory for the measures of a run");
	return -ENOMEM;
}

static void sampler_release(struct run *run)
{
	if (!run->gauges)
		return;
	timer_clear(&run->world.heap, &run->sampler);
	for (uint32_t i = 0; i < run->world.scenario->n_clouds; i++)
		gauge_close(&run->gauges[i]);
	free(run->gauges);
}

/* ---- run ---- */

static void mark_all(struct run *run)
{
	for (uint32_t i = 0; i < run->world.scenario->n_clouds; i++)
		gauge_mark(&run->gauges[i], run->plan->warmup_ns);
	for (uint32_t i = 0; i < run->n_voices; i++) {
		struct voice *voice = &run->voices[i].voice;

		run->voices[i].mark = voice->counters;
		arrivals_mark(&voice->arrivals, voice->from);
	}
	for (uint32_t i = 0; i < run->n_webs; i++)
		web_mark(&run->webs[i].web);
	for (uint32_t i = 0; i < run->n_groups; i++)
		for (uint32_t k = 0; k < run->groups[i].n_flows; k++) {
			struct flow *flow = &run->groups[i].flows[k];

			flow_mark(&run->groups[i].marks[k], flow);
			arrivals_mark(&flow->arrivals, flow->from);
		}
}

static void voice_report(struct run_voice *voice, simtime span_ns, struct results *results)
{
	const struct voice_counters *now = &voice->voice.counters, *mark = &voice->mark;
	double sent = (double)(now->sent - mark->sent);
	double arrived = (double)(now->arrived - mark->arrived);

	results_add(results, voice->name, "sent", sent);
	results_add(results, voice->name, "arrived", arrived);
	results_add(results, voice->name, "goodput",
	            8e3 * arrived * (double)voice->voice.conf->packet_bytes / (double)span_ns);
	results_add(results, voice->name, "refused", (double)(now->refused - mark->refused));
	voice->loss = (struct run_loss){loss_reserve(results, voice->name), sent};
}

static void web_report(struct run_web *run, simtime span_ns, struct results *results)
{
	const struct web *web = &run->web;
	double n = (double)web->finished, sent, arrived;
	struct web_sums now;

	web_sums(web, &now);
	sent = (double)(now.sent - web->mark.sent);
	arrived = (double)(now.arrived - web->mark.arrived);
	results_add(results, run->name, "objects", n);
	results_add(results, run->name, "unfinished", (double)(web->begun - web->finished));
	results_add(results, run->name, "delay", n > 0 ? web->delays_s / n : 0);
	results_add(results, run->name, "delay.fairness",
	            n > 0 ? web->delays_s * web->delays_s / (n * web->squares_s2) : 0);
	results_add(results, run->name, "goodput",
	            8e3 * (double)(now.in_order - web->mark.in_order) * web->tcp.packet_bytes /
	                    (double)span_ns);
	results_add(results, run->name, "sent", sent);
	results_add(results, run->name, "resent", (double)(now.resent - web->mark.resent));
	run->loss = (struct run_loss){loss_reserve(results, run->name), sent};
	results_add(results, run->name, "marking",
	            arrived > 0 ? 100 * (double)(now.marked - web->mark.marked) / arrived : 0);
}

static void measure_all(struct run *run, struct results *results)
{
	simtime span_ns = run->plan->duration_ns - run->plan->warmup_ns;
	struct shares all = {0};

	for (uint32_t i = 0; i < run->world.scenario->n_clouds; i++)
		gauge_report(&run->gauges[i], run->plan->duration_ns, results);
	for (uint32_t i = 0; i < run->n_groups; i++) {
		struct run_group *group = &run->groups[i];
		struct group_sums sums = {.packet_bytes = group->tcp.packet_bytes};

		for (uint32_t k = 0; k < group->n_flows; k++)
			group_add(&sums, &group->marks[k], &group->flows[k], &all);
		group->loss.at = group_report(&sums, group->name, span_ns, results);
		group->loss.sent = sums.sent;
	}
	for (uint32_t i = 0; i < run->n_voices; i++)
		voice_report(&run->voices[i], span_ns, results);
	for (uint32_t i = 0; i < run->n_webs; i++)
		web_report(&run->webs[i], span_ns, results);
	results_add(results, "all", "fairness", shares_fairness(&all));
	results_add(results, "all", "broken", (double)run->world.counters.broken);
	results_add(results, "all", "strangers", (double)run->world.counters.strangers);
	results_add(results, "all", "frames", (double)run->world.counters.frames);
}

/* Lets what is in flight arrive, and reports the losses, of what was sent in the measured time. */
static int measure_losses(struct run *run, struct results *results)
{
	int error;

	timer_clear(&run->world.heap, &run->sampler);
	run->world.tap = NULL;
	error = world_drain(&run->world, run->plan->duration_ns);
	for (uint32_t i = 0; !error && i < run->n_groups; i++) {
		const struct run_group *group = &run->groups[i];
		double arrived = 0;

		for (uint32_t k = 0; k < group->n_flows; k++)
			arrived += (double)group->flows[k].arrivals.n;
		loss_report(results, group->loss.at, group->loss.sent, arrived);
	}
	for (uint32_t i = 0; !error && i < run->n_voices; i++)
		loss_report(results, run->voices[i].loss.at, run->voices[i].loss.sent,
		            (double)run->voices[i].voice.arrivals.n);
	for (uint32_t i = 0; !error && i < run->n_webs; i++) {
		struct web_sums sums;

		web_sums(&run->webs[i].web, &sums);
		loss_report(results, run->webs[i].loss.at, run->webs[i].loss.sent,
		            (double)sums.since);
	}
	return error;
}

static int run_through(struct run *run, struct results *results)
{
	const struct plan *plan = run->plan;
	int error = 0;

	for (uint32_t i = 0; !error && i < plan->n_groups; i++)
		error = group_make(run, &plan->groups[i]);
	for (uint32_t i = 0; !error && i < plan->n_voices; i++)
		error = voice_make(run, &plan->voices[i]);
	for (uint32_t i = 0; !error && i < plan->n_webs; i++)
		error = web_make(run, &plan->webs[i]);
	if (!error)
		error = sampler_make(run);
	if (error)
		return error;
	if (world_run(&run->world, plan->warmup_ns) < 0)
		goto err_memory;
	mark_all(run);
	if (world_run(&run->world, plan->duration_ns) < 0)
		goto err_memory;
	measure_all(run, results);
	if (results->error == 0 && measure_losses(run, results) == 0)
		return 0;

err_memory:
	problem_set(run->problem, -1, "%s ran out after %.3f s of virtual time",
	            run->world.error == -ENOSPC ? "the ports of a web group's host" : "memory",
	            (double)run->world.now_ns / SIMTIME_S);
	return run->world.error == -ENOSPC ? -ENOSPC : -ENOMEM;
}

int lab_run(const struct plan *plan, const struct platform *platform, struct results *results,
            struct problem *problem)
{
	struct run *run = calloc(1, sizeof(*run));
	int error;

	if (!run) {
		problem_set(problem, -1, "no memory for a run");
		scenario_free(plan->scenario);
		return -ENOMEM;
	}
	run->plan = plan;
	run->problem = problem;
	run->world.network = *plan->network;
	error = world_open(&run->world, platform, plan->name, plan->scenario, plan->seed, problem);
	run->world.arrivals_first = plan->arrivals_first;
	run->world.tap = plan->tap;
	run->world.tap_argument = plan->tap_argument;
	if (!error)
		error = run_through(run, results);
	groups_release(run);
	sampler_release(run);
	world_close(&run->world);
	free(run);
	return error;
}
