/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stage/stage.h"

enum { FIELD_FROM, FIELD_FOR, FIELD_EVERY };

struct loss_window {
	struct stage stage;
	simtime from_ns, for_ns, every_ns;
};

static bool is_inside(const struct loss_window *loss, simtime t)
{
	simtime begin = cloud_origin_ns(loss->stage.cloud) + loss->from_ns;

	if (t < begin)
		return false;
	t -= begin;
	return (loss->every_ns ? t % loss->every_ns : t) < loss->for_ns;
}

static void loss_window_process(struct stage *stage, struct burst *burst)
{
	const struct loss_window *loss = (const struct loss_window *)stage;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (is_inside(loss, burst_t(burst, i)))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
}

static int loss_window_check(const struct conf *conf, const struct cloud_conf *cloud,
                             struct problem *problem)
{
	const struct loss_window_conf *window = (const struct loss_window_conf *)conf;

	(void)cloud;
	if (window->every_ns != 0 && window->every_ns < window->for_ns)
		return problem_set(
		        problem, FIELD_EVERY,
		        "the next window would begin before this one ends: `every` must be at "
		        "least as long as `for`");
	return 0;
}

static int loss_window_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_window_conf *window = (const struct loss_window_conf *)conf;
	struct loss_window *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_window_process;
	loss->from_ns = window->from_ns;
	loss->for_ns = window->for_ns;
	loss->every_ns = window->every_ns;
	*stage = &loss->stage;
	return 0;
}

static const struct field loss_window_fields[] = {
        [FIELD_FROM] = {FIELD("from", FIELD_TIME, struct loss_window_conf, from_ns,
                              .flags = FIELD_REQUIRED, .max = DELAY_MAX_NS,
                              .help = "when it begins, after the beginning of the run")},
        [FIELD_FOR] = {FIELD("for", FIELD_TIME, struct loss_window_conf, for_ns,
                             .flags = FIELD_REQUIRED, .min = 1, .max = DELAY_MAX_NS,
                             .help = "how long everything is lost")},
        [FIELD_EVERY] = {FIELD(
                "every", FIELD_TIME, struct loss_window_conf, every_ns, .min = 1,
                .max = DELAY_MAX_NS,
                .help = "from the beginning of one window to that of the next; if not "
                        "given, there is only one")},
        FIELD_END,
};

const struct statement loss_window_statement = {
        .name = "loss",
        .variant = "window",
        .help = "everything that arrives in a window of time is lost",
        .example = "window from 3600s for 1s",
        .role = ROLE_STAGE,
        .fields = loss_window_fields,
        .conf_bytes = sizeof(struct loss_window_conf),
        .check = loss_window_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_window_make,
};
