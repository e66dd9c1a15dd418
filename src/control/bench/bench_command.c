/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir bench`: the process that Python asks. */
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
#include "check/memory_plan.h"
#include "command.h"
#include "language/scenario_file.h"
#include "machine/clock.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "machine/pool.h"
#include "port/port.h"
#include "show/doctor.h"

#define MBUFS_MAX 800000u /* 2 GB: 10 ms at 80 Mpps */
#define PORTS_MIB 320u    /* pool and rings of a rig with many ports */
#define MIB       (1u << 20)

struct bench bench;

static const struct python_command in_python = {
        .command = "bench",
        .module = "weir.bench.command",
        .needs = "",
        .get = "apt install python3-weir, or pip install ./python in weir's sources",
        .unable = 2,
};

static void say(const char *text)
{
	fprintf(stderr, "weir bench: %s\n", text);
}

/* Checks what would otherwise fail only after minutes. */
static int check_ahead(struct problem *problem)
{
	const struct bench_arguments *arguments = &bench.arguments;
	const struct sched_param param = {.sched_priority = (int)arguments->priority};
	const struct sched_param normal = {.sched_priority = 0};

	if (arguments->priority > 0 && sched_setscheduler(0, SCHED_FIFO, &param) < 0) {
		problem_set(problem, -1, "--priority %d: %s; this needs root or CAP_SYS_NICE",
		            param.sched_priority, strerror(errno));
		return -EPERM;
	}
	if (arguments->priority > 0)
		sched_setscheduler(0, SCHED_OTHER, &normal);
	if (arguments->parts[BENCH_RFC2544] && bench.scenario && bench.scenario->n_ports != 2)
		return problem_set(
		        problem, -1,
		        "rfc2544 measures between two ports, but %s has %u: use a scenario "
		        "with two ports, or name only the other parts",
		        arguments->config, bench.scenario->n_ports);
	return 0;
}

/* ---- the EAL ---- */

/* Returns the memory for the mbufs of large frames, in MiB: what fits into the free hugepages, or,
 * if these are too few, what is needed; at most a quarter of the available memory. */
static unsigned size_memory(void)
{
	uint64_t huge_mib = bench.machine.huge_free_bytes / MIB;
	uint64_t wanted = PORTS_MIB + (uint64_t)MBUFS_MAX * (pool_mbuf_bytes() + 8) / MIB;
	uint64_t most = bench.machine.available_bytes / 4 / MIB;
	uint64_t mib = RTE_MIN(wanted, most);
	uint64_t left;

	if (huge_mib > 2 * PORTS_MIB)
		mib = RTE_MIN(mib, huge_mib * 9 / 10);
	left = mib > PORTS_MIB ? mib - PORTS_MIB : 0;
	bench.conditions.mbufs_max = left * MIB / (pool_mbuf_bytes() + 8);
	bench.conditions.memory_max_bytes = bench.machine.available_bytes / 2;
	return (unsigned)mib;
}

/* ---- answers ---- */

/* Begins the measurement: with EAL, unless it needs neither devices nor packets. */
static json_t *answer_begin(const json_t *question)
{
	const struct bench_arguments *arguments = &bench.arguments;
	struct problem problem = {.text = ""};
	bool pci = false;

	bench.eal = json_is_true(json_object_get(question, "eal"));
	for (uint32_t i = 0; i < arguments->n_devices; i++)
		pci |= port_is_pci(arguments->devices[i]);
	if (bench.eal &&
	    eal_start_live(arguments->cores, 0, NULL, pci, size_memory(), &problem) < 0) {
		bench.eal = false;
		return bench_failed(-EINVAL, &problem);
	}
	if (problem.text[0])
		say(problem.text);
	/* Free hugepages may be too few, or forbidden by a limit. */
	bench.hugepages = bench.eal && rte_eal_has_hugepages();
	bench_stop_on_signals();
	/* A second worker of a run to completion would send into a ring that no worker receives
	 * from. */
	return json_pack("{s:b}", "rings",
	                 arguments->layout != LAYOUT_RUN_TO_COMPLETION || rte_lcore_count() <= 2);
}

static void stop(void)
{
	if (bench.eal)
		eal_stop_live();
	bench.eal = false;
}

/* Ends the measurement. Returns what is known then. */
static json_t *answer_end(const json_t *question)
{
	struct doctor doctor = {.n = 0};
	struct clock clock;
	double tsc_hz = clock_calibrate(&clock) == 0 ? 1e9 / clock.rate_ns : 0;
	json_t *examined = NULL;

	stop();
	bench_adopt(question);
	if (bench.arguments.parts[BENCH_MACHINE]) {
		doctor_examine("", &bench.machine, bench.scenario,
		               memory_plan_huge_mib(bench.scenario), &doctor);
		examined = doctor_json(&doctor);
	}
	return json_pack(
	        "{s:o,s:o*}", "machine",
	        bench_json_machine(&bench.machine, tsc_hz, bench.hugepages, &bench.conditions),
	        "doctor", examined);
}

/* Prints a document. */
static json_t *answer_print(const json_t *question)
{
	struct problem problem;

	json_dumpf(json_object_get(question, "document"), stdout, JSON_PRESERVE_ORDER);
	putchar('\n');
	if (fflush(stdout) == 0 && !ferror(stdout))
		return json_object();
	problem_set(&problem, -1, "cannot write: %s", strerror(errno));
	return bench_failed(-EIO, &problem);
}

/* Reads a file. Returns {"json"}, or what is wrong in which line and column. */
static json_t *answer_json(const json_t *question)
{
	json_error_t error;
	json_t *json = json_load_file(bench_text(question, "path"), 0, &error);

	return json_pack("{s:o?,s:o,s:i,s:i}", "json", json, "text",
	                 figures_string(json ? "" : error.text), "line", error.line, "column",
	                 error.column);
}

static const struct python_ask asks[] = {
        {"asked", bench_answer_asked},
        {"begin", answer_begin},
        {"end", answer_end},
        {"print", answer_print},
        {"json", answer_json},
        {"cost", bench_answer_cost},
        {"precision", bench_answer_precision},
        {"clock", bench_answer_clock},
        {"rfc2544-open", bench_answer_rfc2544_open},
        {"rfc2544", bench_answer_rfc2544},
        {"latency-open", bench_answer_latency_open},
        {"latency", bench_answer_latency},
        {"tester-close", bench_answer_tester_close},
        {"live-open", bench_answer_live_open},
        {"live-critical", bench_answer_live_critical},
        {"live-serve", bench_answer_live_serve},
        {"live-begin", bench_answer_live_begin},
        {"live-step", bench_answer_live_step},
        {"live-window", bench_answer_live_window},
        {"live-unaccounted", bench_answer_live_unaccounted},
        {"live-close", bench_answer_live_close},
        {NULL, NULL},
};

/* ---- */

/* Returns 0, or 2 after a message. */
static int prepare(void)
{
	const struct bench_arguments *arguments = &bench.arguments;
	char message[SCENARIO_FILE_ERROR];
	struct problem problem;
	struct cpu_list cores;
	const char *wrong = NULL;

	if (cpu_list_parse(arguments->cores, &cores, &problem) < 0)
		wrong = problem.text;
	else if (arguments->config && scenario_file_load(arguments->config, &bench.scenario,
	                                                 message, sizeof(message)) != 0)
		wrong = message;
	else if (check_ahead(&problem) < 0)
		wrong = problem.text;
	if (wrong) {
		say(wrong);
		return 2;
	}
	bench_machine_read("", cores.cpu[0], &bench.machine);
	bench.conditions = (struct bench_conditions){
	        .layout = arguments->layout,
	        .priority = (int)arguments->priority,
	        .flight_ns = arguments->flight_ns,
	        .flight_snap = (uint32_t)arguments->flight_snap,
	};
	return 0;
}

int command_bench(int argc, char **argv)
{
	struct bench_arguments *arguments = &bench.arguments;
	int status = bench_arguments_parse(argc, argv, arguments);

	if (status != OPTIONS_RUN)
		return status;
	/* If a file reaches its size limit, the write returns an error. DPDK does without the file
	 * in which it keeps memory that is not in hugepages. */
	signal(SIGXFSZ, SIG_IGN);
	status = prepare();
	if (status == 0)
		status = python_run(&in_python,
		                    (const struct python_value[]){
		                            {"before", arguments->compare},
		                            {"after", arguments->against},
		                            {"html", arguments->html},
		                            {"file", arguments->config},
		                            {"load", arguments->load},
		                            {"resume", arguments->resume},
		                            {"unread", bench.machine.unread},
		                            {NULL, NULL},
		                    },
		                    asks);
	stop();
	scenario_free(bench.scenario);
	return status;
}
