/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir setup`: finds what this machine lacks for some ports, prints the remedies, and applies
 * them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options/options.h"
#include "setup/setup.h"
#include "text/word.h"

struct setup {
	const char *cores, *root;
	bool apply, undo, json, unsafe;
};

static const struct option_row rows[] = {
        {OPTION("--apply", FIELD_FLAG, struct setup, apply,
                .help = "applies the remedies, also for the devices of earlier calls, now and at "
                        "each start of the machine")},
        {OPTION("--undo", FIELD_FLAG, struct setup, undo,
                .help = "restores the state before the first --apply")},
        {OPTION_CORES(struct setup)},
        {OPTION("--unsafe-noiommu", FIELD_FLAG, struct setup, unsafe,
                .help = "gives NICs to DPDK where there is no IOMMU: an error there may overwrite "
                        "any memory")},
        {OPTION("--root", FIELD_TEXT, struct setup, root, .form = "DIR",
                .help = "a tree in place of the machine's /sys, /proc, /etc and /var")},
        {OPTION_JSON(struct setup, "one JSON array")},
        OPTIONS_END,
};

const struct options setup_options = {
        .command = "setup",
        .usage = "[DEVICE|SERVICE ...] [--apply | --undo]",
        .does = "Shows what this machine lacks for these ports, with remedies; or applies them.",
        .about =
                "DEVICE: a NIC for DPDK, like 0000:03:00.1, or an interface, which stays with the\n"
                "kernel. SERVICE: the ports of /etc/weir/SERVICE.weir.\n",
        .end = "Exit status: 0 --apply has nothing to do, or has done it; 1 it has something\n"
               "to do, a step failed, or the kernel did less; 2 an option, device or service\n"
               "is wrong.\n",
        .rows = rows,
};

static int wrong(const struct problem *problem, int status)
{
	options_wrong(&setup_options, "%s", problem->text);
	return status;
}

/* ---- applying and undoing ---- */

/* Executes all steps. Returns 0, or 1 if the kernel did less than a step asked for; on failure
 * -errno with problem, and n is how many of them are to be undone. */
static int do_steps(const char *root, const struct setup_plan *plan, uint32_t *n,
                    struct problem *problem)
{
	int status = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct step *step = &plan->steps[i];
		int rc = step_do(root, step, problem);

		if (rc < 0 && step->may_fail) {
			fprintf(stderr, "weir setup: %s; the kernel keeps its setting\n",
			        problem->text);
		} else if (rc < 0) {
			*n = i + step_may_be_half_done(step);
			return rc;
		} else {
			fputs("$ ", stdout);
			step_print(stdout, step);
			fputc('\n', stdout);
			if (!step_fell_short(root, step, problem))
				continue;
			fprintf(stderr, "weir setup: %s; the kernel gives no more now\n",
			        problem->text);
			status = 1;
		}
	}
	return status;
}

/* Undoes the first n steps of an --apply that has failed. The record is then as it was before, with
 * those steps besides that cannot be undone. */
static void take_back(const char *root, const struct setup_plan *plan, uint32_t n,
                      const struct setup_record *before, struct setup_record *record)
{
	struct problem problem;

	setup_record_cut(record, before->n);
	while (n-- > 0) {
		const struct step *step = &plan->steps[n];
		int rc = step_undo(root, step, &problem);

		if (rc == 0)
			continue;
		fprintf(stderr, "weir setup: %s\n", problem.text);
		if (rc != -ENOENT && !step->may_fail)
			setup_record_add(record, step, &problem);
	}
	if (record->n > before->n)
		fputs("weir setup: not all is undone; `weir setup --undo` tries it again\n",
		      stderr);
	record->n_words = before->n_words;
	strcpy(record->cores, before->cores);
	record->unsafe = before->unsafe;
	record->huge = before->huge;
	if (record->n == 0)
		setup_record_remove(root, record);
	else if (setup_record_write(root, record, &problem) < 0)
		fprintf(stderr, "weir setup: %s\n", problem.text);
}

static int apply(const struct setup *setup, struct setup_record *record,
                 const struct setup_ports *ports, struct setup_plan *plan)
{
	const struct setup_record before = *record;
	struct problem problem;
	uint32_t done = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < plan->n_steps; i++) {
		rc = step_look(setup->root, &plan->steps[i], &problem);
		if (rc == 0)
			rc = setup_record_add(record, &plan->steps[i], &problem);
	}
	for (uint32_t i = 0; rc == 0 && i < ports->n_words; i++)
		rc = setup_record_name(record, ports->word[i], &problem);
	record->unsafe |= setup->unsafe;
	record->huge = plan->huge;
	if (setup->cores != record->cores)
		snprintf(record->cores, sizeof(record->cores), "%s",
		         setup->cores ? setup->cores : "");
	if (rc == 0 && (plan->n_steps > 0 || before.n > 0))
		rc = setup_record_write(setup->root, record, &problem);
	if (rc < 0)
		return wrong(&problem, 1);
	rc = do_steps(setup->root, plan, &done, &problem);
	if (rc < 0) {
		take_back(setup->root, plan, done, &before, record);
		return wrong(&problem, 1);
	}
	if (plan->reboot)
		puts("The new kernel command line takes effect after a reboot.");
	return rc;
}

static int undo(const struct setup *setup, struct setup_record *record)
{
	struct problem problem;
	int status = 0;

	for (uint32_t i = record->n; i-- > 0;) {
		const struct step *step = &record->steps[i];

		int rc = step_undo(setup->root, step, &problem);

		if (rc == 0 || step->may_fail)
			continue;
		if (rc == -ENOENT)
			fprintf(stderr, "weir setup: %s; there is nothing to restore\n",
			        problem.text);
		else
			status = wrong(&problem, 1);
	}
	if (status == 0)
		setup_record_remove(setup->root, record);
	return status;
}

/* ---- examining ---- */

/* Finds the ports of the words given; with --apply, or without words, also those of the record. */
static int find_ports(const struct setup *setup, const struct options_words *words,
                      const struct setup_record *record, struct setup_ports *ports)
{
	struct problem problem;
	int rc = 0;

	for (int i = 0; rc == 0 && i < words->n; i++)
		rc = setup_ports_add(setup->root, words->word[i], ports, &problem);
	for (uint32_t i = 0; rc == 0 && (setup->apply || words->n == 0) && i < record->n_words;
	     i++) {
		rc = setup_ports_add(setup->root, record->word[i], ports, &problem);
		if (rc == 0 || rc == -ENOMEM || rc == -E2BIG)
			continue;
		/* One that is gone does not keep the others from what they lack. */
		fprintf(stderr, "weir setup: %s of an earlier --apply is left out: %s\n",
		        record->word[i], problem.text);
		rc = 0;
	}
	setup_ports_finish(ports);
	return rc < 0 ? wrong(&problem, 2) : 0;
}

static bool has_all(const struct setup_record *record, const struct setup_ports *ports)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ports->n_words; i++) {
		for (uint32_t k = 0; k < record->n_words; k++)
			n += strcmp(ports->word[i], record->word[k]) == 0;
	}
	return n == ports->n_words;
}

static int plan_and_do(const struct setup *setup, struct setup_record *record,
                       const struct setup_ports *ports, const struct cpu_list *cores)
{
	struct setup_request request = {
	        .root = setup->root, .ports = ports, .cores = cores, .unsafe = setup->unsafe};
	struct setup_plan plan;
	int status;

	if (setup->apply || has_all(record, ports))
		request.huge = record->huge;
	if (setup_plan_make(&request, &plan) < 0) {
		setup_plan_release(&plan);
		return wrong(&(struct problem){.text = "no memory"}, 1);
	}
	status = plan.n_steps > 0 ? 1 : 0;
	if (setup->apply) {
		status = apply(setup, record, ports, &plan);
	} else if (setup->json) {
		json_t *array = setup_plan_json(&plan);

		json_dumpf(array, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(array);
	} else {
		setup_plan_print(stdout, &plan);
	}
	setup_plan_release(&plan);
	return status;
}

int command_setup(int argc, char **argv)
{
	struct setup setup = {.root = ""};
	static struct setup_ports ports; /* large */
	struct setup_record record;
	struct options_words words;
	struct cpu_list cores;
	struct problem problem;
	int status = options_read(&setup_options, argc, argv, &setup, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (!setup.root)
		setup.root = "";
	if (setup.undo && (setup.apply || words.n > 0 || setup.json))
		return options_wrong(&setup_options, "--undo undoes everything that --apply has "
		                                     "done; give nothing else with it");
	if (setup.apply && setup.json)
		return options_wrong(&setup_options,
		                     "--json shows what --apply would do; do not give both");
	if (setup.cores && strlen(setup.cores) >= sizeof(record.cores))
		return options_wrong(&setup_options,
		                     "--cores has %zu bytes; at most %zu are allowed",
		                     strlen(setup.cores), sizeof(record.cores) - 1);
	if (setup.apply || setup.undo)
		setup_record_lock(setup.root);
	if (setup_record_read(setup.root, &record, &problem) < 0)
		return wrong(&problem, 2);
	/* Options of the last --apply stay in force, unless they are given anew. */
	setup.unsafe |= record.unsafe;
	if (!setup.cores && record.cores[0])
		setup.cores = record.cores;
	if (setup.undo) {
		status = undo(&setup, &record);
	} else if (cpu_list_parse(setup.cores, &cores, &problem) < 0) {
		status = wrong(&problem, 2);
	} else {
		status = find_ports(&setup, &words, &record, &ports);
		if (status == 0)
			status = plan_and_do(&setup, &record, &ports, &cores);
		setup_ports_release(&ports);
	}
	setup_record_release(&record);
	return status;
}
