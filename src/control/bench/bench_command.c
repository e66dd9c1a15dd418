/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir bench`: from the command line to figures. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_version.h>

#include "bench/bench.h"
#include "capture/atomic_file.h"
#include "check/memory_plan.h"
#include "command.h"
#include "language/scenario_file.h"
#include "machine/clock.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "machine/pool.h"
#include "port/port.h"
#include "python/python.h"
#include "random/draw.h"
#include "show/doctor.h"

#define RUNS      5
#define SECONDS   0.3
#define MBUFS_MAX 800000u /* 2 GB: 10 ms at 80 Mpps */
#define PORTS_MIB 320u    /* pool and rings of a rig with many ports */
#define MIB       (1u << 20)

struct bench {
	struct bench_arguments arguments;
	struct bench_machine machine;
	struct bench_plan plan;
	struct scenario *scenario;
	bool hugepages;
	json_t *document;
	json_t *before, *after; /* compare: the earlier document, and a later one or NULL */
};

/* Tables, pages and comparisons. */
static const struct python_command in_python = {
        .command = "bench",
        .module = "weir.bench.command",
        .needs = "",
        .get = "apt install python3-weir, or pip install ./python in weir's sources; -j needs none",
        .unable = 1,
};

static bool needs_python(const struct bench_arguments *arguments)
{
	return !arguments->json || arguments->html || arguments->compare;
}

static void say(const char *text)
{
	fprintf(stderr, "weir bench: %s\n", text);
}

/* Checks what would otherwise fail only after minutes. */
static int check_ahead(const struct bench *bench, struct problem *problem)
{
	const struct bench_arguments *arguments = &bench->arguments;
	const struct sched_param param = {.sched_priority = (int)arguments->priority};
	const struct sched_param normal = {.sched_priority = 0};
	char *ready[] = {(char *)(uintptr_t) "--ready"};
	struct atomic_file *atomic_file;

	if (arguments->priority > 0 && sched_setscheduler(0, SCHED_FIFO, &param) < 0) {
		problem_set(problem, -1, "--priority %d: %s; this needs root or CAP_SYS_NICE",
		            param.sched_priority, strerror(errno));
		return -EPERM;
	}
	if (arguments->priority > 0)
		sched_setscheduler(0, SCHED_OTHER, &normal);
	if (arguments->parts[BENCH_RFC2544] && bench->scenario && bench->scenario->n_ports != 2)
		return problem_set(
		        problem, -1,
		        "rfc2544 measures between two ports, but %s has %u: use a scenario "
		        "with two ports, or name only the other parts",
		        arguments->config, bench->scenario->n_ports);
	if (needs_python(arguments) && python_run(&in_python, NULL, 1, ready) != 0)
		return problem_set(problem, -1, "nothing was measured");
	if (!arguments->html)
		return 0;
	if (atomic_file_open(arguments->html, &atomic_file, problem) < 0)
		return -EINVAL;
	atomic_file_discard(atomic_file);
	return 0;
}

/* ---- the EAL ---- */

/* Returns the memory for the mbufs of large frames, in MiB: what fits into the free hugepages, or,
 * if these are too few, what is needed; at most a quarter of the available memory. */
static unsigned size_memory(struct bench *bench)
{
	uint64_t huge_mib = bench->machine.huge_free_bytes / MIB;
	uint64_t wanted = PORTS_MIB + (uint64_t)MBUFS_MAX * (pool_mbuf_bytes() + 8) / MIB;
	uint64_t most = bench->machine.available_bytes / 4 / MIB;
	uint64_t mib = RTE_MIN(wanted, most);
	uint64_t left;

	if (huge_mib > 2 * PORTS_MIB)
		mib = RTE_MIN(mib, huge_mib * 9 / 10);
	left = mib > PORTS_MIB ? mib - PORTS_MIB : 0;
	bench->plan.conditions.mbufs_max = left * MIB / (pool_mbuf_bytes() + 8);
	bench->plan.conditions.memory_max_bytes = bench->machine.available_bytes / 2;
	return (unsigned)mib;
}

/* ---- the parts ---- */

static int measure(struct bench *bench, struct problem *problem)
{
	static int (*const parts[])(struct bench_plan *, struct problem *) = {
	        [BENCH_COST] = bench_plan_cost,       [BENCH_PRECISION] = bench_plan_precision,
	        [BENCH_DEPTH] = bench_plan_depth,     [BENCH_CLOUDS] = bench_plan_clouds,
	        [BENCH_CLOCK] = bench_plan_clock,     [BENCH_RFC2544] = bench_plan_rfc2544,
	        [BENCH_LATENCY] = bench_plan_latency, [BENCH_RECONF] = bench_plan_reconf,
	        [BENCH_SOAK] = bench_plan_soak,
	};
	int rc = 0;

	if (bench->before)
		rc = bench_plan_again(&bench->plan, bench->before, problem);
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (bench->arguments.parts[i] && parts[i])
			rc = parts[i](&bench->plan, problem);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return rc;
}

/* Returns true if a part is measured, other than `besides`. */
static bool measures(const struct bench *bench, int besides)
{
	bool any = bench->before && !bench->after;

	for (int part = 0; part < BENCH_MACHINE; part++)
		any |= part != besides && bench->arguments.parts[part];
	return any;
}

/* Returns 0, 1 if an error occurred on the way, or 2 if the measurement could not begin. */
static int run(struct bench *bench)
{
	struct problem problem = {.text = ""};
	/* The clock is measured without devices and packets. */
	bool eal = measures(bench, BENCH_CLOCK), pci = false;
	int status = 0, rc;

	for (uint32_t i = 0; i < bench->arguments.n_devices; i++)
		pci |= port_is_pci(bench->arguments.devices[i]);
	if (eal && eal_start_live(bench->arguments.cores, 0, NULL, pci, size_memory(bench),
	                          &problem) < 0) {
		say(problem.text);
		return 2;
	}
	if (problem.text[0])
		say(problem.text);
	/* Free hugepages may be too few, or forbidden by a limit. */
	bench->hugepages = eal && rte_eal_has_hugepages();
	bench_stop_on_signals();
	rc = measure(bench, &problem);
	if (rc < 0) {
		say(problem.text);
		/* It could not begin if a device is missing or taken, and nothing was measured
		 * before. Errors that occur on the way do not count: no memory, an interruption,
		 * packets that do not add up or do not flow. */
		status = json_array_size(bench->plan.rows) == 0 && rc != -ENOMEM && rc != -EINTR &&
		                         rc != -EIO && rc != -ENOBUFS && rc != -ERANGE
		                 ? 2
		                 : 1;
	}
	if (eal)
		eal_stop_live();
	return status;
}

/* Adds what is known when the measurement is over. */
static void complete_document(struct bench *bench)
{
	struct doctor doctor = {.n = 0};
	struct clock clock;
	double tsc_hz = clock_calibrate(&clock) == 0 ? 1e9 / clock.rate_ns : 0;

	json_object_set_new(bench->document, "machine",
	                    bench_json_machine(&bench->machine, tsc_hz, bench->hugepages,
	                                       &bench->plan.conditions));
	if (bench->arguments.parts[BENCH_MACHINE]) {
		doctor_examine("", &bench->machine, bench->scenario,
		               memory_plan_huge_mib(bench->scenario), &doctor);
		json_object_set_new(bench->document, "doctor", doctor_json(&doctor));
	}
}

/* Prints what was measured, writes the report, and prints the comparison. Returns 0, or 1 if one of
 * them failed or a figure is worse. */
static int show(struct bench *bench)
{
	const struct bench_arguments *arguments = &bench->arguments;
	char *words[] = {(char *)(uintptr_t)arguments->html};
	json_t *given;
	int status = 0;

	/* If two documents are compared, nothing was measured. */
	if (!bench->after)
		complete_document(bench);
	if (arguments->json && !bench->after) {
		json_dumpf(bench->document, stdout, JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "weir bench: cannot write: %s\n", strerror(errno));
		return 1;
	}
	if (needs_python(arguments)) {
		given = json_pack("{s:O,s:b,s:b,s:O?,s:O?,s:f}", "document", bench->document,
		                  "print", !arguments->json && !bench->after, "json",
		                  arguments->json, "before", bench->before, "after", bench->after,
		                  "bound", (double)arguments->bound_q63 / (double)PROBABILITY_ONE);
		status = given ? python_run(&in_python, given, arguments->html ? 1 : 0, words) : 1;
		json_decref(given);
	}
	return status;
}

/* ---- */

/* Reads the documents to compare; adopts the conditions under which the first one was made. */
static int load_documents(struct bench *bench, struct problem *problem)
{
	const struct bench_arguments *arguments = &bench->arguments;
	struct bench_conditions *conditions = &bench->plan.conditions;
	const json_t *machine;

	if (!arguments->compare)
		return 0;
	bench->before = bench_document_load(arguments->compare, problem);
	if (bench->before && arguments->against)
		bench->after = bench_document_load(arguments->against, problem);
	if (!bench->before || (arguments->against && !bench->after))
		return -EINVAL;
	machine = json_object_get(bench->before, "machine");
	if (arguments->runs == 0 && bench_number(machine, "runs") >= 1)
		conditions->runs = (uint32_t)RTE_MIN(bench_number(machine, "runs"),
		                                     (double)BENCH_RUNS_MAX / 2);
	if (arguments->seconds_us == 0 && bench_number(machine, "seconds") > 0)
		conditions->seconds = bench_number(machine, "seconds");
	return 0;
}

/* Returns 0, or 2 after a message. */
static int prepare(struct bench *bench)
{
	const struct bench_arguments *arguments = &bench->arguments;
	char message[SCENARIO_FILE_ERROR];
	struct problem problem;
	struct cpu_list cores;

	if (cpu_list_parse(arguments->cores, &cores, &problem) < 0)
		goto err_say;
	if (arguments->config && scenario_file_load(arguments->config, &bench->scenario, message,
	                                            sizeof(message)) != 0) {
		say(message);
		return 2;
	}
	if (check_ahead(bench, &problem) < 0)
		goto err_say;
	bench_machine_read("", cores.cpu[0], &bench->machine);
	bench->plan = (struct bench_plan){
	        .arguments = arguments,
	        .scenario = bench->scenario,
	        .scenario_name = arguments->config,
	        .rows = json_array(),
	        .remarks = json_array(),
	        .conditions =
	                {
	                        .layout = arguments->layout,
	                        .runs = arguments->runs ? (uint32_t)arguments->runs : RUNS,
	                        .seconds = bench_seconds(arguments, SECONDS),
	                        .priority = (int)arguments->priority,
	                        .flight_ns = arguments->flight_ns,
	                        .flight_snap = (uint32_t)arguments->flight_snap,
	                },
	};
	if (bench->machine.unread[0])
		bench_plan_remark(&bench->plan,
		                  "%s could not be read: the description of this machine is "
		                  "incomplete",
		                  bench->machine.unread);
	bench->document = json_pack("{s:n,s:O,s:O}", "machine", "rows", bench->plan.rows, "remarks",
	                            bench->plan.remarks);
	if (!bench->document)
		bench_plan_failed(&problem, -ENOMEM);
	if (bench->document && load_documents(bench, &problem) == 0)
		return 0;
err_say:
	say(problem.text);
	return 2;
}

int command_bench(int argc, char **argv)
{
	static struct bench bench;
	int status, printed;

	if (argc == 2 && strcmp(argv[1], "--answer") == 0)
		return python_answer(&(struct python_ask){.name = NULL}, stdin, stdout);
	status = bench_arguments_parse(argc, argv, &bench.arguments);
	if (status != OPTIONS_RUN)
		return status;
	/* If a file reaches its size limit, the write returns an error. DPDK does without the file
	 * in which it keeps memory that is not in hugepages. */
	signal(SIGXFSZ, SIG_IGN);
	status = prepare(&bench);
	if (status == 0 && measures(&bench, BENCH_PARTS))
		status = run(&bench);
	if (status != 2 && bench.document) {
		printed = show(&bench);
		status = status ? status : printed;
	}
	json_decref(bench.document);
	json_decref(bench.before);
	json_decref(bench.after);
	json_decref(bench.plan.rows);
	json_decref(bench.plan.remarks);
	scenario_free(bench.scenario);
	return status;
}
