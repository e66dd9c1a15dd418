/* SPDX-License-Identifier: BSD-3-Clause */
#include "delay.h"

#include <errno.h>

static const char *const distributions[] = {"uniform", "normal", NULL};
static const char *const orders[] = {"keep", "allow", NULL};

enum { DELAY_FIELD_DELAY, DELAY_FIELD_JITTER, DELAY_FIELD_DISTRIBUTION, DELAY_FIELD_ORDER };

static const struct field delay_fields[] = {
        {.name = "delay",
         .type = FIELD_TIME,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct delay_conf, delay_ns),
         .max = DELAY_MAX_NS,
         .help = "time that a packet travels"},
        {.name = "jitter",
         .type = FIELD_TIME,
         .offset = offsetof(struct delay_conf, jitter_ns),
         .max = DELAY_MAX_NS,
         .help = "uniform: the most that it differs; normal: the standard deviation"},
        {.name = "distribution",
         .type = FIELD_WORD,
         .offset = offsetof(struct delay_conf, distribution),
         .words = distributions,
         .help = "of the delay around its mean"},
        {.name = "order",
         .type = FIELD_WORD,
         .offset = offsetof(struct delay_conf, order),
         .words = orders,
         .help = "keep: no packet overtakes another; allow: they leave as their delays say"},
        FIELD_END,
};

static int delay_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct delay_conf *delay = (const struct delay_conf *)conf;

	(void)cloud;
	if (delay->jitter_ns == 0 && conf->given & 1u << DELAY_FIELD_DISTRIBUTION) {
		problem_set(problem, DELAY_FIELD_DISTRIBUTION,
		            "a distribution needs a spread: add `jitter` and a time, like 5ms");
		return -EINVAL;
	}
	return 0;
}

const struct statement delay_statement = {
        .name = "delay",
        .help = "the propagation delay of the path, and its jitter",
        .role = ROLE_LINE,
        .fields = delay_fields,
        .conf_bytes = sizeof(struct delay_conf),
        .check = delay_check,
};
