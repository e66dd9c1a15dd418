/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/class.h"

#include <errno.h>

#include "match/match.h"
#include "line/delay.h"
#include "link/rate.h"
#include "scenario/scenario.h"

#define WEIGHT_PLACES_MAX 9
#define QUANTUM_BYTES     1514

uint32_t class_confs(const struct cloud_conf *cloud, const struct class_conf *confs[CLASSES_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cloud->n_confs && n < CLASSES_MAX; i++) {
		if (cloud->confs[i]->statement == &class_statement)
			confs[n++] = (const struct class_conf *)cloud->confs[i];
	}
	return n;
}

/* ---- weights ---- */

static uint64_t power_of_ten(uint32_t exponent)
{
	uint64_t power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* Returns the weight in billionths; the default is 1. One that check_weight refuses counts as 1:
 * another statement may be checked before this one. */
static uint64_t weight_units(const struct class_conf *conf)
{
	if (conf->weight.digits == 0 || conf->weight.places > WEIGHT_PLACES_MAX)
		return power_of_ten(WEIGHT_PLACES_MAX);
	return conf->weight.digits * power_of_ten(WEIGHT_PLACES_MAX - conf->weight.places);
}

uint64_t class_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void class_weights(const struct class_conf *const *confs, uint32_t n, uint64_t *weights)
{
	uint64_t divisor = 0;

	for (uint32_t i = 0; i < n; i++) {
		weights[i] = weight_units(confs[i]);
		divisor = class_divisor(weights[i], divisor);
	}
	for (uint32_t i = 0; i < n; i++)
		weights[i] /= divisor;
}

bool class_weights_normalised(const struct class_conf *const *confs, uint32_t n)
{
	uint64_t sum = 0;
	bool given = false;

	for (uint32_t i = 0; i < n; i++) {
		sum += weight_units(confs[i]);
		given |= confs[i]->weight.digits != 0;
	}
	return given && sum != power_of_ten(WEIGHT_PLACES_MAX);
}

/* ---- queues ---- */

struct limit class_queue(const struct class_conf *conf, const struct cloud_conf *cloud)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(cloud, "rate");
	const struct class_conf *confs[CLASSES_MAX];
	uint64_t weights[CLASSES_MAX], sum = 0, own = 1;
	struct limit limit;
	uint32_t n = class_confs(cloud, confs);

	if (conf->queue.unit != LIMIT_NONE || !rate)
		return conf->queue;
	limit = rate_queue(rate, cloud);
	if (rate->queue.unit != LIMIT_NONE)
		return limit;
	class_weights(confs, n, weights);
	for (uint32_t i = 0; i < n; i++) {
		sum += weights[i];
		if (confs[i] == conf)
			own = weights[i];
	}
	limit.value = (uint64_t)((unsigned __int128)limit.value * own / sum);
	if (limit.value < RATE_QUEUE_BYTES_MIN)
		limit.value = RATE_QUEUE_BYTES_MIN;
	return limit;
}

/* ---- checks ---- */

static int check_weight(const struct class_conf *conf, struct problem *problem)
{
	if (!(conf->conf.given >> CLASS_FIELD_WEIGHT & 1))
		return 0;
	if (conf->weight.digits == 0)
		return problem_set(
		        problem, CLASS_FIELD_WEIGHT,
		        "a class with a weight of 0 would never send; give it a small weight, "
		        "or use `scheduler priority`");
	if (conf->weight.places > WEIGHT_PLACES_MAX)
		return problem_set(problem, CLASS_FIELD_WEIGHT,
		                   "a weight has at most %d digits after the decimal point",
		                   WEIGHT_PLACES_MAX);
	return 0;
}

static int check_match(const struct class_conf *conf, struct problem *problem)
{
	struct match match;
	int own;

	if (!conf->match)
		return 0;
	if (match_parse(conf->match, &match)) {
		if (match.n > 0)
			return 0;
		return problem_set(problem, CLASS_FIELD_MATCH,
		                   "`match %s` contradicts itself: no packet fits it", conf->match);
	}
	own = match_own_word(conf->match);
	if (own < 0)
		return 0; /* the filter reports the error */
	problem_set(problem, CLASS_FIELD_MATCH,
	            "`dscp` and a number from 0 to 63 can be joined to other conditions by `and` "
	            "only, and those must be simple: addresses, port, protocol, vlan");
	problem->letter = (uint32_t)own;
	return -EINVAL;
}

static int check_all(const struct class_conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	const struct class_conf *confs[CLASSES_MAX];
	uint32_t n = class_confs(cloud, confs), rest = 0;

	if (!cloud_conf_get(cloud, "rate"))
		return problem_set(
		        problem, -1,
		        "there is no link to share: give cloud `%s` a `rate`, like `cloud %s "
		        "rate 10mbit`",
		        cloud->name, cloud->name);
	for (uint32_t i = 0; i < n; i++)
		rest += confs[i]->match == NULL;
	if (rest == 0)
		return problem_set(
		        problem, -1,
		        "all classes have a `match`: a class without one must take the packets "
		        "that fit no other, like `cloud %s class rest`",
		        cloud->name);
	if (rest > 1 && !conf->match)
		return problem_set(
		        problem, -1,
		        "%u classes have no `match`: only one can take the packets that fit no "
		        "other; give the others a `match`",
		        rest);
	return 0;
}

static int class_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct class_conf *class = (const struct class_conf *)conf;
	int error = check_weight(class, problem);

	if (!error)
		error = check_match(class, problem);
	if (!error)
		error = check_all(class, cloud, problem);
	return error;
}

static int scheduler_check(const struct conf *conf, const struct cloud_conf *cloud,
                           struct problem *problem)
{
	const struct class_conf *confs[CLASSES_MAX];
	const struct scheduler_conf *scheduler = (const struct scheduler_conf *)conf;

	if (class_confs(cloud, confs) == 0)
		return problem_set(
		        problem, -1,
		        "there are no classes to schedule: write some, like `cloud %s class "
		        "voice weight 0.8 match udp port 5004` and `cloud %s class data`",
		        cloud->name, cloud->name);
	if (conf->given >> 1 & 1 && scheduler->algorithm != SCHEDULER_DRR)
		return problem_set(problem, 1, "only `drr` has a `quantum`: leave it out");
	return 0;
}

/* ---- the statements ---- */

static const struct field class_fields[] = {
        [CLASS_FIELD_WEIGHT] = {FIELD(
                "weight", FIELD_RATIO, struct class_conf, weight, .flags = FIELD_SHARE,
                .help = "share of the rate, in proportion to those of the others; "
                        "1 if not given")},
        [CLASS_FIELD_QUEUE] = {FIELD(
                "queue", FIELD_LIMIT, struct class_conf, queue, .min = 1,
                .help = "how much may wait in this class: bytes, packets or time")},
        [CLASS_FIELD_DROP] = {FIELD(
                "drop", FIELD_WORD, struct class_conf, drop, .words = rate_drops,
                .help = "which packet a full queue drops: the arriving one, or the oldest")},
        [CLASS_FIELD_MATCH] = {FIELD(
                "match", FIELD_TEXT, struct class_conf, match, .flags = FIELD_REST,
                .help = "the packets that it takes, in tcpdump's words; those that "
                        "fit no other class if not given")},
        FIELD_END,
};

const struct statement class_statement = {
        .name = "class",
        .help = "a queue of its own before the link, for some packets",
        .example = "voice weight 50%",
        .role = ROLE_CLASS,
        .fields = class_fields,
        .scoped = true,
        .conf_bytes = sizeof(struct class_conf),
        .check = class_check,
};

static const char *const algorithms[] = {"scfq", "priority", "drr", NULL};

static const struct field scheduler_fields[] = {
        {FIELD("algorithm", FIELD_WORD, struct scheduler_conf, algorithm,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .words = algorithms,
               .help = "scfq: fair by weights; priority: the first class first; drr: in turn")},
        {FIELD("quantum", FIELD_BYTES, struct scheduler_conf, quantum_bytes, .min = 64,
               .max = 1000000, .initial = QUANTUM_BYTES,
               .help = "drr: bytes that the class with the smallest weight may send per turn")},
        FIELD_END,
};

const struct statement scheduler_statement = {
        .name = "scheduler",
        .help = "which class the link takes from",
        .example = "priority",
        .beside = {"class voice weight 50%"},
        .role = ROLE_CLASS,
        .fields = scheduler_fields,
        .conf_bytes = sizeof(struct scheduler_conf),
        .check = scheduler_check,
};
