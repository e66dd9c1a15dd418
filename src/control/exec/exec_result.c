/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/engine_report.h"
#include "figures/figures.h"
#include "replay/replay_table.h"
#include "units/human_unit.h"
#include "show/late.h"

#define REMEDY                                                                                     \
	"other programs had weir's processor: run fewer beside it, or give it one of its own "     \
	"(--cores)"

int exec_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result)
{
	struct port_report *port = malloc(sizeof(*port));

	result->clouds = calloc(scenario->n_clouds + 1, sizeof(*result->clouds));
	if (!port || !result->clouds) {
		free(port);
		return -ENOMEM;
	}
	result->first_ns = start_ns;
	result->last_ns = runtime_now_ns(runtime);
	result->n_clouds = scenario->n_clouds;
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		runtime_cloud_report(runtime, scenario->clouds[i]->name, &result->clouds[i]);
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++) {
		figures_copy(FIGURE_REPLAY_PORT, &result->ports[i], FIGURE_PORT, port);
		result->ports[i].lateness_ns = malloc(sizeof(struct histogram));
		if (!result->ports[i].lateness_ns) {
			free(port);
			return -ENOMEM;
		}
		*result->ports[i].lateness_ns = port->lateness_ns;
	}
	free(port);
	return 0;
}

void exec_result_print(FILE *out, const struct scenario *scenario,
                       const struct replay_result *result)
{
	char span[HUMAN_UNIT_SIZE];
	const char *before = "\n";

	human_unit_format(span, sizeof(span), HUMAN_NS,
	                  (double)(result->last_ns - result->first_ns), 3);
	fprintf(out, "weir exec: %s, seed %" PRIu64 "\n", span, scenario->seed);
	replay_table_print_clouds(out, scenario, result);
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct histogram *late = result->ports[i].lateness_ns;

		if (late && late_warn(out, before, scenario->ports[i].name, late,
		                      LATE_WARN_SHARED_NS, REMEDY))
			before = "";
	}
	replay_table_print_books(out, scenario, result);
}
