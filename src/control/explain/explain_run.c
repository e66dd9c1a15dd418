/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/explain_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "capture/atomic_file.h"
#include "explain/explainer.h"
#include "explain/explanation.h"
#include "text/alloc_failure.h"

struct explain_run {
	struct explainer *explainer;
	struct explanation *explanation;
	struct atomic_file *json;
	struct explainer_left_out left_out;
	uint64_t lacking;
	char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];
};

int explain_run_open(const struct explain_plan *plan, struct explain_run **result,
                     struct problem *problem)
{
	struct explain_run *run = calloc(1, sizeof(*run));
	struct explanation_of of = {.n_ports = plan->n_ports,
	                            .deaf = plan->deaf,
	                            .text = plan->text,
	                            .lines = plan->lines};
	int rc = 0;

	if (!run)
		goto err_memory;
	memcpy(run->ports, plan->ports, plan->n_ports * sizeof(run->ports[0]));
	of.ports = (const char(*)[SCENARIO_NAME_BYTES])run->ports;
	if (plan->json) {
		rc = atomic_file_open(plan->json, &run->json, problem);
		if (rc < 0) {
			explain_run_free(run);
			return rc;
		}
		of.json = atomic_file_stream(run->json);
	}
	run->explanation = explanation_make(&of);
	if (run->explanation)
		run->explainer = explainer_make(plan->deaf, explanation_add, run->explanation);
	if (!run->explainer)
		goto err_memory;
	*result = run;
	return 0;

err_memory:
	explain_run_free(run);
	problem_set(problem, -1, "no memory to explain connections");
	return -ENOMEM;
}

int explain_run_of(const struct scenario *scenario, const char *json, bool deaf,
                   struct explain_run **run, struct problem *problem)
{
	char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];

	for (uint32_t i = 0; i < scenario->n_ports; i++)
		memcpy(ports[i], scenario->ports[i].name, SCENARIO_NAME_BYTES);
	return explain_run_open(
	        &(struct explain_plan){.n_ports = scenario->n_ports,
	                               .ports = (const char(*)[SCENARIO_NAME_BYTES])ports,
	                               .json = json,
	                               .deaf = deaf},
	        run, problem);
}

void explain_run_take(void *argument, const struct fate *const fates[], uint32_t n)
{
	explainer_take(((struct explain_run *)argument)->explainer, fates, n);
}

void explain_run_step(struct explain_run *run, simtime now)
{
	explainer_step(run->explainer, now);
}

int explain_run_finish(struct explain_run *run, uint64_t lacking, struct problem *problem)
{
	run->lacking = lacking;
	explainer_end(run->explainer);
	run->left_out = explainer_left_out(run->explainer);
	explanation_end_json(run->explanation, &run->left_out);
	return run->json ? atomic_file_finish(run->json, problem) : 0;
}

void explain_run_print(const struct explain_run *run, FILE *out)
{
	explanation_print(run->explanation, &run->left_out, out);
	if (run->lacking > 0)
		fprintf(out,
		        "%s came faster than they could be taken: what is said of packets above "
		        "may be incomplete\n",
		        count_of(run->lacking, "event").text);
}

char *explain_run_text(const struct explain_run *run)
{
	struct printed text;

	explain_run_print(run, printed_begin(&text));
	return printed_end(&text);
}

int explain_run_publish(struct explain_run *run, struct problem *problem)
{
	int rc = run->json ? atomic_file_publish(run->json, problem) : 0;

	run->json = NULL;
	return rc;
}

void explain_run_free(struct explain_run *run)
{
	if (!run)
		return;
	atomic_file_discard(run->json);
	explainer_free(run->explainer);
	explanation_free(run->explanation);
	free(run);
}
