/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setup/setup_making.h"

int setup_plan_make(const struct setup_request *request, struct setup_plan *plan)
{
	struct making making = {.request = request, .plan = plan};
	struct bench_machine machine;

	memset(plan, 0, sizeof(*plan));
	bench_machine_read(request->root, request->cores->cpu[0], &machine);
	setup_examine_nics(&making, strstr(machine.cpu, "Intel") != NULL);
	setup_examine_processors(&making);
	setup_examine_lasting(&making);
	return making.no_memory ? -ENOMEM : 0;
}

void setup_plan_release(struct setup_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++)
		free(plan->finding[i].what);
	for (uint32_t i = 0; i < plan->n_steps; i++)
		step_release(&plan->steps[i]);
	free(plan->finding);
	free(plan->steps);
}

static const char *what_of(const struct setup_finding *row)
{
	return row->what ? row->what : row->finding.what;
}

void setup_plan_print(FILE *out, const struct setup_plan *plan)
{
	static const char *const marks[] = {
	        [DOCTOR_GOOD] = "good", [DOCTOR_COSTS] = "LACKS", [DOCTOR_UNKNOWN] = "-"};

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		fprintf(out, "%-5s  %-22s %s\n", marks[finding->state], finding->subject,
		        what_of(row));
		if (finding->cost[0])
			fprintf(out, "%-5s  %-22s costs: %s\n", "", "", finding->cost);
		for (uint32_t k = 0; k < row->n; k++) {
			fprintf(out, "%-5s  %-22s $ ", "", "");
			step_print(out, &plan->steps[row->first + k]);
			fputc('\n', out);
		}
		if (finding->remedy[0] &&
		    (row->n == 0 || strcmp(finding->subject, "command line") == 0))
			fprintf(out, "%-5s  %-22s remedy: %s\n", "", "", finding->remedy);
	}
}

static json_t *commands_json(const struct setup_plan *plan, const struct setup_finding *row)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < row->n; k++) {
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		if (!out)
			break;
		step_print(out, &plan->steps[row->first + k]);
		if (fclose(out) == 0)
			json_array_append_new(array, json_string(text));
		free(text);
	}
	return array;
}

json_t *setup_plan_json(const struct setup_plan *plan)
{
	static const char *const states[] = {"good", "lacks", "unknown"};
	json_t *array = json_array();

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		json_array_append_new(
		        array, json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "subject", finding->subject,
		                         "state", states[finding->state], "what", what_of(row),
		                         "cost", finding->cost, "remedy", finding->remedy,
		                         "commands", commands_json(plan, row)));
	}
	return array;
}
