/* SPDX-License-Identifier: BSD-3-Clause */
/* The `becn` statement: its fields and its checks. */
#include <errno.h>
#include <string.h>

#include "aqm/mark.h"
#include "aqm/red.h"
#include "notify/becn.h"
#include "notify/ecn.h"
#include "scenario/scenario.h"

enum {
	BECN_FIELD_THRESHOLD,
	BECN_FIELD_LIMIT,
	BECN_FIELD_BURST,
	BECN_FIELD_BIT,
	BECN_FIELD_ON_DROP,
	BECN_FIELD_ON_OVERFLOW,
};

const struct becn_conf *becn_beside(const struct conf *conf, const struct cloud_conf *cloud)
{
	return (const struct becn_conf *)aqm_beside(conf, cloud, "becn");
}

static int outside(struct problem *problem, const char *where)
{
	return problem_set(problem, BECN_FIELD_THRESHOLD, "the threshold is out of range: %s",
	                   where);
}

static int check_in_red(const struct becn_conf *becn, const struct red_conf *red,
                        struct problem *problem)
{
	const struct red_setup setup = red_conf_setup(red);
	quantity_q64 threshold = red_conf_threshold(red, &becn->threshold);

	if (threshold < setup.min)
		return outside(problem,
		               "it is below the min of `red`; at min, or without a threshold, "
		               "there is BECN alone, between min and max ECN and BECN");
	if (threshold > setup.max)
		return outside(problem, "it is above the max of `red`; at max there is ECN alone, "
		                        "between min and max ECN and BECN");
	return 0;
}

static int check_in_mark(const struct becn_conf *becn, const struct mark_conf *mark,
                         struct problem *problem)
{
	if (becn->threshold.unit != mark->above.unit)
		return problem_set(
		        problem, BECN_FIELD_THRESHOLD,
		        "the threshold is not in the unit of `mark above`: give both in bytes, "
		        "or both in packets");
	if (becn->threshold.value < mark->above.value)
		return outside(problem, "it is below that of `mark above`, from which packets are "
		                        "marked: make it equal or greater");
	return 0;
}

/* Checks `becn` beside this AQM, to which it applies. Returns 0, or -EINVAL with problem. */
static int check_beside(const struct becn_conf *becn, const struct conf *aqm,
                        const struct cloud_conf *cloud, struct problem *problem)
{
	bool is_red = aqm->statement == &red_statement;

	if (!is_red && aqm->statement != &mark_statement)
		return problem_set(problem, -1,
		                   "`%s` sends no quenches: becn goes with `red` or `mark above`",
		                   aqm->statement->name);
	if (!ecn_marker(aqm, cloud, is_red ? NULL : &ecn_marker_3168))
		return problem_set(
		        problem, -1,
		        "only packets that can be marked have a sender that understands a quench: "
		        "say `cloud %s ecn on`",
		        cloud->name);
	if (becn->threshold.unit == LIMIT_NONE)
		return 0;
	return is_red ? check_in_red(becn, (const struct red_conf *)aqm, problem)
	              : check_in_mark(becn, (const struct mark_conf *)aqm, problem);
}

/* Returns true if `becn` applies to this AQM: it is that of the AQM's class, or the cloud's if the
 * class has none of its own. `becn` need not be in force. */
static bool applies(const struct conf *becn, const struct conf *aqm, const struct cloud_conf *cloud)
{
	if (strcmp(becn->scope, aqm->scope) == 0)
		return true;
	return !becn->scope[0] && !cloud_conf_scoped(cloud, aqm->scope, "becn");
}

static int becn_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	const struct becn_conf *becn = (const struct becn_conf *)conf;
	bool found = false;

	if (!cloud_conf_get(cloud, "hop"))
		return problem_set(
		        problem, -1,
		        "a quench comes from a router's address: give cloud `%s` one, like `cloud "
		        "%s hop 192.0.2.1`",
		        cloud->name, cloud->name);
	if (becn->threshold.unit == LIMIT_TIME)
		return problem_set(
		        problem, BECN_FIELD_THRESHOLD,
		        "the threshold is in bytes or packets, like 20kB or 20pkt; as a time it "
		        "would depend on the rate");
	if (conf->given >> BECN_FIELD_BURST & 1 && becn->limit == 0)
		return problem_set(
		        problem, BECN_FIELD_BURST,
		        "there is no limit that a burst could exceed: say `limit N`, too");
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct conf *aqm = cloud->confs[i];
		int error;

		if (aqm->statement->role != ROLE_AQM || !applies(conf, aqm, cloud))
			continue;
		found = true;
		error = check_beside(becn, aqm, cloud, problem);
		if (error)
			return error;
	}
	if (found)
		return 0;
	return problem_set(
	        problem, -1,
	        "no management chooses packets here: becn goes with `red min 15kB max 45kB` or "
	        "`mark above 20kB`, and `ecn on`");
}

static const char *const bits[] = {"0x80", "0x40", "0x20", "0x10", "0x08",
                                   "0x04", "0x02", "0x01", NULL};

static const struct field becn_fields[] = {
        [BECN_FIELD_THRESHOLD] = {FIELD(
                "threshold", FIELD_LIMIT, struct becn_conf, threshold, .min = 1,
                .help = "average from which senders are told; min if not given: BECN alone")},
        [BECN_FIELD_LIMIT] = {FIELD("limit", FIELD_COUNT, struct becn_conf, limit, .min = 1,
                                    .max = QUOTA_LIMIT_MAX,
                                    .help = "quenches a second; no limit if not given")},
        [BECN_FIELD_BURST] = {FIELD("burst", FIELD_COUNT, struct becn_conf, burst, .min = 1,
                                    .max = QUOTA_BURST_MAX, .initial = BECN_BURST_DEFAULT,
                                    .help = "quenches at once, if there is a limit")},
        [BECN_FIELD_BIT] = {FIELD("bit", FIELD_WORD, struct becn_conf, bit, .words = bits,
                                  .help = "of the fifth octet: set if the packet was marked")},
        [BECN_FIELD_ON_DROP] = {FIELD("on-drop", FIELD_SWITCH, struct becn_conf, on_drop,
                                      .initial = 1, .help = "whether the sender is told of drops")},
        [BECN_FIELD_ON_OVERFLOW] = {FIELD(
                "on-overflow", FIELD_SWITCH, struct becn_conf, on_overflow, .initial = 1,
                .help = "whether the sender is told of packets that find the queue full")},
        FIELD_END,
};

const struct statement becn_statement = {
        .name = "becn",
        .help = "the router tells the sender of marks and drops by a source quench",
        .example = "",
        .beside = {"hop 192.0.2.1", "red min 15kB max 45kB", "ecn on"},
        .role = ROLE_AQM_MODIFIER,
        .beyond = "its answers quote packets",
        .generates = true,
        .fields = becn_fields,
        .counts = {{COUNTER(becn_sent), .words = "quenches sent", .always = true}},
        .conf_bytes = sizeof(struct becn_conf),
        .check = becn_check,
};
