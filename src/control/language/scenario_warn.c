/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_warn.h"

#include "language/path_check.h"
#include "line/delay.h"
#include "report/chart_unit.h"
#include "text/alloc_failure.h"

#define MEAN_MORE 0.005 /* a mean that is greater by a smaller share is no matter */
#define WARNINGS  10

static void say(FILE *out, const char *cloud, const struct delay_conf *delay,
                const struct delay_asked *asked)
{
	char delay_text[CHART_UNIT_SIZE], jitter[CHART_UNIT_SIZE], mean[CHART_UNIT_SIZE];

	chart_unit_format(delay_text, sizeof(delay_text), CHART_NS, asked->drawn_mean_ns, 5);
	chart_unit_format(jitter, sizeof(jitter), CHART_NS, (double)delay->jitter_ns, 5);
	chart_unit_format(mean, sizeof(mean), CHART_NS, asked->mean_ns, 3);
	fprintf(out,
	        "warning: cloud `%s`: a jitter of %s around a delay of %s would make some delays "
	        "negative; they become 0, so the mean is %s (%+.1f %%)\n",
	        cloud, jitter, delay_text, mean, (asked->mean_ns / asked->drawn_mean_ns - 1) * 100);
}

void scenario_warn(const struct scenario *scenario, FILE *out)
{
	uint32_t said = 0;

	path_warn(scenario, out);
	for (uint32_t i = 0; i < scenario->n_clouds && said < WARNINGS; i++) {
		const struct conf *conf = cloud_conf_get(scenario->clouds[i], "delay");
		const struct delay_conf *delay = (const struct delay_conf *)conf;
		struct delay_asked asked;

		if (!conf || conf->statement != &delay_statement || delay->jitter_ns == 0 ||
		    delay->delay_ns == 0)
			continue;
		if (delay_asked(delay, &asked) != 0) {
			alloc_failure_note();
			continue;
		}
		if (asked.mean_ns <= asked.drawn_mean_ns * (1 + MEAN_MORE))
			continue;
		say(out, scenario->clouds[i]->name, delay, &asked);
		said++;
	}
}
