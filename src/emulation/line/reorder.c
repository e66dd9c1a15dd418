/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/reorder.h"

#include "account/counters.h"
#include "line/delay.h"
#include "match/flows.h"
#include "scenario/scenario.h"

/* ---- the rule ---- */

struct reorder_rule reorder_rule_of(const struct conf *conf, struct draw_key key)
{
	struct reorder_rule rule = {
	        .kind = REORDER_NONE,
	        .key = key,
	        .statement = conf ? conf->statement : NULL,
	        .tally = conf ? conf->tally : NULL,
	};

	if (conf && conf->statement == &reorder_every_statement) {
		const struct reorder_every_conf *every = (const struct reorder_every_conf *)conf;

		rule.kind = REORDER_EVERY;
		rule.number = every->every;
		rule.packets = 1;
		rule.time_ns = every->wait_ns;
	} else if (conf && conf->statement == &reorder_random_statement) {
		const struct reorder_random_conf *random = (const struct reorder_random_conf *)conf;

		rule.kind = random->by.unit == LIMIT_TIME ? REORDER_TIME : REORDER_PACKETS;
		rule.probability = random->probability;
		rule.packets = random->by.value;
		rule.time_ns = rule.kind == REORDER_TIME ? random->by.value : random->wait_ns;
		rule.keyed = (enum keyed)random->keyed;
	} else if (conf && conf->statement == &reorder_early_statement) {
		const struct reorder_early_conf *early = (const struct reorder_early_conf *)conf;

		rule.kind = REORDER_EARLY;
		rule.number = early->gap;
		rule.probability = early->probability;
		rule.correlation = early->correlation;
		rule.as_netem = early->as_netem;
		rule.keyed = (enum keyed)early->keyed;
	}
	return rule;
}

bool reorder_rule_same(const struct reorder_rule *a, const struct reorder_rule *b)
{
	return a->kind == b->kind && a->number == b->number && a->packets == b->packets &&
	       a->time_ns == b->time_ns && a->probability == b->probability &&
	       a->correlation == b->correlation && a->as_netem == b->as_netem &&
	       a->keyed == b->keyed;
}

void reorder_begin(struct reorder_choice *choice, const struct reorder_rule *rule, bool same)
{
	if (same)
		return;
	choice->since = 0;
	choice->chance = chance_make(rule->probability, rule->correlation, rule->as_netem);
}

bool reorder_choose(const struct reorder_rule *rule, struct reorder_choice *choice, bool waiting)
{
	uint64_t draw = choice->drawn++;
	bool chosen = false;

	choice->since++;
	switch (rule->kind) {
	case REORDER_NONE:
	case REORDER_NEVER:
		return false;
	case REORDER_EVERY:
		chosen = choice->since >= rule->number && !waiting;
		break;
	case REORDER_PACKETS:
	case REORDER_TIME:
		return draw_below(draw_u64(rule->key, draw, 0), rule->probability);
	case REORDER_EARLY:
		chosen = choice->since >= rule->number &&
		         chance_next(&choice->chance, draw_u64(rule->key, draw, 0));
		break;
	}
	if (chosen)
		choice->since = 0;
	return chosen;
}

/* A flow remembers what choice->since is, and above it what choice->chance is. */
#define BEFORE_BIT 32

bool reorder_choose_of_flow(const struct reorder_rule *rule, struct reorder_choice *choice,
                            const struct burst_flow *flow)
{
	const uint64_t draw = draw_u64(keyed_within(rule->key, rule->keyed, flow), flow->number, 0);
	uint64_t *memory = &flow->memory[FLOW_REORDER];
	struct correlated of_flow = choice->chance.correlated;
	uint64_t before = flow_recall(*memory, FLOW_MARK_REORDER_EARLY);
	uint64_t since = (uint32_t)before;
	bool chosen = false;

	choice->drawn++;
	if (rule->kind == REORDER_TIME)
		return draw_below(draw, rule->probability);
	of_flow.before = correlated_recalled(before >> BEFORE_BIT);
	since += since < rule->number;
	if (since >= rule->number)
		chosen = correlated_next(&of_flow, draw);
	if (chosen)
		since = 0;
	*memory = flow_remember((uint64_t)of_flow.before << BEFORE_BIT | since,
	                        FLOW_MARK_REORDER_EARLY);
	return chosen;
}

/* ---- every N ---- */

static const struct field every_fields[] = {
        {FIELD("n", FIELD_COUNT, struct reorder_every_conf, every,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = REORDER_EVERY_MAX,
               .help = "packets from one that is held back to the next")},
        {FIELD("wait", FIELD_TIME, struct reorder_every_conf, wait_ns, .max = DELAY_MAX_NS,
               .initial = REORDER_WAIT_NS,
               .help = "how long after its due time it leaves if no other packet comes")},
        FIELD_END,
};

const struct statement reorder_every_statement = {
        .name = "reorder",
        .variant = "every",
        .help = "every Nth packet changes places with the one after it",
        .example = "every 1000",
        .role = ROLE_LINE,
        .acts = {COUNTER(reordered)},
        .fields = every_fields,
        .conf_bytes = sizeof(struct reorder_every_conf),
};

/* ---- random P by ... ---- */

enum { RANDOM_PROBABILITY, RANDOM_BY, RANDOM_WAIT, RANDOM_KEYED };

static const struct field random_fields[] = {
        [RANDOM_PROBABILITY] = {FIELD("probability", FIELD_PROBABILITY, struct reorder_random_conf,
                                      probability, .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
                                      .help = "of each packet to be held back")},
        [RANDOM_BY] = {FIELD(
                "by", FIELD_LIMIT, struct reorder_random_conf, by, .form = "Npkt|TIME",
                .flags = FIELD_REQUIRED, .min = 1,
                .help = "how many packets go ahead of it, 3pkt, or how much longer it takes, "
                        "2ms")},
        [RANDOM_WAIT] = {FIELD(
                "wait", FIELD_TIME, struct reorder_random_conf, wait_ns, .max = DELAY_MAX_NS,
                .initial = REORDER_WAIT_NS,
                .help = "by packets: how long after its due time it leaves if too few come")},
        [RANDOM_KEYED] = KEYED_FIELD(struct reorder_random_conf),
        FIELD_END,
};

static int random_check(const struct conf *conf, const struct cloud_conf *cloud,
                        struct problem *problem)
{
	const struct reorder_random_conf *random = (const struct reorder_random_conf *)conf;

	if (random->by.unit == LIMIT_BYTES || random->by.unit == LIMIT_NONE)
		return problem_set(
		        problem, RANDOM_BY,
		        "a packet is held back by a number of packets, like 3pkt, or by a "
		        "time, like 2ms");
	if (random->by.unit == LIMIT_PACKETS && random->by.value > REORDER_PACKETS_MAX)
		return problem_set(problem, RANDOM_BY,
		                   "a packet is held back by at most %u packets",
		                   REORDER_PACKETS_MAX);
	if (random->by.unit == LIMIT_TIME && random->by.value > DELAY_MAX_NS)
		return problem_set(problem, RANDOM_BY,
		                   "a packet is held back by at most a day, 86400s");
	if (random->by.unit == LIMIT_TIME && conf->given >> RANDOM_WAIT & 1)
		return problem_set(
		        problem, RANDOM_WAIT,
		        "a packet that is held back by a time waits for no other; leave `wait` "
		        "out");
	if (random->keyed != KEYED_CLOUD && random->by.unit != LIMIT_TIME)
		return problem_set(problem, RANDOM_KEYED,
		                   "the packets that a packet waits for are of any flow: hold it "
		                   "back by a time, like `by 2ms`, or leave `keyed` out");
	return keyed_check(conf, cloud, problem);
}

const struct statement reorder_random_statement = {
        .name = "reorder",
        .variant = "random",
        .help = "packets are held back with a probability, by packets or by a time",
        .example = "random 0.1% by 3pkt",
        .role = ROLE_LINE,
        .acts = {COUNTER(reordered)},
        .fields = random_fields,
        .conf_bytes = sizeof(struct reorder_random_conf),
        .check = random_check,
};

/* ---- netem's ---- */

static const struct field early_fields[] = {
        {FIELD("probability", FIELD_PROBABILITY, struct reorder_early_conf, probability,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
               .help = "of each packet to be sent at once, without the delay")},
        {FIELD("correlation", FIELD_PROBABILITY, struct reorder_early_conf, correlation,
               .flags = FIELD_POSITIONAL, .help = "of one such choice with the one before")},
        {FIELD("gap", FIELD_COUNT, struct reorder_early_conf, gap, .min = 1,
               .max = REORDER_EVERY_MAX, .initial = 1,
               .help = "after a packet that was sent at once, this many minus one are delayed")},
        {FIELD("as-netem", FIELD_FLAG, struct reorder_early_conf, as_netem,
               .help = CHANCE_AS_NETEM_HELP)},
        KEYED_FIELD(struct reorder_early_conf),
        FIELD_END,
};

static int early_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct delay_conf *delay = (const struct delay_conf *)cloud_conf_get(cloud, "delay");
	int error = keyed_check(conf, cloud, problem);

	if (error)
		return error;
	if (delay && (delay->conf.statement != &delay_statement || delay->delay_ns > 0 ||
	              delay_has_jitter(delay)))
		return 0;
	return problem_set(
	        problem, -1,
	        "packets that are sent at once overtake those that are delayed: the cloud needs "
	        "a delay, like `delay 10ms`");
}

const struct statement reorder_early_statement = {
        .name = "reorder",
        .help = "as in netem: packets are sent at once with a probability, the others are delayed",
        .example = "0.1%",
        .role = ROLE_LINE,
        .acts = {COUNTER(reordered)},
        .fields = early_fields,
        .conf_bytes = sizeof(struct reorder_early_conf),
        .check = early_check,
};
