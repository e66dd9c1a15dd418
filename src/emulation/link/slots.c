/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/slots.h"

#include "line/delay.h"
#include "scenario/scenario.h"

#define SLOTS_AHEAD       64
#define SLOTS_PACKETS_MIN 1000
#define SLOTS_BYTES_MIN   1500000

enum {
	SLOTS_FIELD_MIN,
	SLOTS_FIELD_MAX,
	SLOTS_FIELD_PACKETS,
	SLOTS_FIELD_BYTES,
	SLOTS_FIELD_QUEUE
};

/* ---- worker ---- */

simtime slots_take(struct slots *slots, const struct slots_rule *rule, simtime ready,
                   uint32_t bytes)
{
	if (ready > slots->opens || slots->packets_left == 0 || slots->bytes_left == 0) {
		uint64_t draw = draw_u64(rule->key, slots->drawn++, 0);

		slots->opens = simtime_max(ready, slots->opens) + rule->min_ns +
		               draw_index(draw, rule->span_ns + 1);
		slots->packets_left = rule->packets;
		slots->bytes_left = rule->bytes;
	}
	slots->packets_left--;
	slots->bytes_left -= bytes < slots->bytes_left ? bytes : slots->bytes_left;
	return slots->opens;
}

/* ---- control ---- */

struct slots_rule slots_rule_of(const struct slots_conf *conf, struct draw_key key)
{
	return (struct slots_rule){
	        .on = true,
	        .min_ns = conf->min_ns,
	        .span_ns = conf->max_ns - conf->min_ns,
	        .packets = conf->packets ? conf->packets : UINT64_MAX,
	        .bytes = conf->bytes ? conf->bytes : UINT64_MAX,
	        .key = key,
	};
}

struct limit slots_queue(const struct slots_conf *conf)
{
	const uint64_t budget = conf->packets ? conf->packets : conf->bytes;
	const uint64_t least = conf->packets ? SLOTS_PACKETS_MIN : SLOTS_BYTES_MIN;

	if (conf->queue.unit != LIMIT_NONE)
		return conf->queue;
	if (budget == 0)
		return (struct limit){.unit = LIMIT_NONE};
	return (struct limit){
	        .value = SLOTS_AHEAD * budget > least ? SLOTS_AHEAD * budget : least,
	        .unit = conf->packets ? LIMIT_PACKETS : LIMIT_BYTES,
	};
}

static int slots_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct slots_conf *slots = (const struct slots_conf *)conf;

	if (slots->max_ns < slots->min_ns)
		return problem_set(problem, SLOTS_FIELD_MAX,
		                   "`max` is below `min`: slots open between the two");
	if (slots->queue.unit != LIMIT_NONE && cloud_conf_get(cloud, "rate"))
		return problem_set(
		        problem, SLOTS_FIELD_QUEUE,
		        "the cloud has a `rate`, and only one queue: give `rate` its `queue`");
	if (slots->queue.unit == LIMIT_TIME)
		return problem_set(problem, SLOTS_FIELD_QUEUE,
		                   "a queue limited in time needs a `rate`; give bytes or packets");
	return 0;
}

static const struct field slots_fields[] = {
        [SLOTS_FIELD_MIN] = {FIELD("min", FIELD_TIME, struct slots_conf, min_ns,
                                   .flags = FIELD_REQUIRED, .max = DELAY_MAX_NS,
                                   .help = "shortest time until a slot opens, once the packet that "
                                           "begins it is ready")},
        [SLOTS_FIELD_MAX] = {FIELD(
                "max", FIELD_TIME, struct slots_conf, max_ns, .flags = FIELD_REQUIRED,
                .max = DELAY_MAX_NS,
                .help = "the longest such time; all times between are equally likely")},
        [SLOTS_FIELD_PACKETS] = {FIELD("packets", FIELD_COUNT, struct slots_conf, packets, .min = 1,
                                       .max = UINT32_MAX,
                                       .help = "packets that leave in a slot; all if not given")},
        [SLOTS_FIELD_BYTES] = {FIELD(
                "bytes", FIELD_BYTES, struct slots_conf, bytes, .min = 1,
                .max = UINT64_C(1000000000000),
                .help = "bytes after which a slot is full; none if not given")},
        [SLOTS_FIELD_QUEUE] = {FIELD(
                "queue", FIELD_LIMIT, struct slots_conf, queue, .min = 1,
                .help = "how much may wait, in a cloud without a rate: bytes or packets")},
        FIELD_END,
};

const struct statement slots_statement = {
        .name = "slots",
        .help = "packets leave in bursts, when a slot opens",
        .example = "min 100us max 200us",
        .role = ROLE_LINK,
        .fields = slots_fields,
        .conf_bytes = sizeof(struct slots_conf),
        .check = slots_check,
};
