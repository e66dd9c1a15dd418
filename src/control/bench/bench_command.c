/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir bench`: its options, and the process that Python asks. */
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
#include "measure/bench_tester.h"
#include "port/port.h"
#include "random/draw.h"
#include "record/recording_run.h"
#include "show/doctor.h"

#define MBUFS_MAX 800000u /* 2 GB: 10 ms at 80 Mpps */
#define PORTS_MIB 320u    /* pool and rings of a rig with many ports */
#define MIB       (1u << 20)

#define SECONDS_MAX  86400
#define SECONDS_MIN  (FACTOR_ONE / 20)
#define PRIORITY_MAX 99
#define BOUND        (UINT64_C(1) << 61)    /* a quarter, q63 */
#define LOSS_BOUND   UINT64_C(922337203685) /* 1e-7, q63 */
#define HOURS_MIN    (FACTOR_ONE / 1000)
#define HOURS_MAX    (1000 * FACTOR_ONE)

struct bench bench;

static const struct option_row rows[] = {
        {OPTION_CONFIG(union option_value, "cost, rfc2544, compare: measure this scenario")},
        {VALUE("--scenario", FIELD_TEXT, .form = "NAME",
               .help = "cost: only this one of weir's own scenarios")},
        {VALUE("--load", FIELD_TEXT, .help = "precision: only loads whose names contain TEXT")},
        {VALUE("--frame", FIELD_TEXT, .form = "N",
               .help = "frames of N bytes, 64 to 9600, or imix")},
        {VALUE("--seconds", FIELD_FACTOR, .form = "N", .min = SECONDS_MIN,
               .max = SECONDS_MAX * FACTOR_ONE, .help = "duration of each run")},
        {VALUE("--runs", FIELD_COUNT, .min = 1, .max = BENCH_RUNS_MAX / 2,
               .help = "runs for each figure, of which the median counts (5)")},
        {VALUE("--full", FIELD_FLAG, .help = "cost: every scenario with every frame size")},
        {OPTION_CORES(union option_value)},
        {OPTION_LAYOUT(union option_value)},
        {VALUE("--priority", FIELD_COUNT, .min = 1, .max = PRIORITY_MAX,
               .help = "real-time priority of the workers")},
        {VALUE("--flight", FIELD_TIME, .min = SIMTIME_S,
               .help = "cost, precision: with a flight, like weir run --flight")},
        {VALUE("--snap", FIELD_BYTES, .min = RECORDING_SNAP_MIN, .max = PACKET_BYTES_MAX,
               .help = "bytes of each frame that the flight keeps")},
        {VALUE("--device", FIELD_TEXT, .form = "DEVICE",
               .help = "give it twice: for rfc2544 the ports at the device under test, for "
                       "latency the ends of the cable; if not given, rfc2544 tests weir itself, "
                       "in this process")},
        {VALUE("--line-rate", FIELD_RATE, .min = 1,
               .help = "rfc2544: the highest rate to offer, like 10gbit; latency: the rate of the "
                       "wire, if it differs from that of the NIC's link")},
        {VALUE("--cable", FIELD_FACTOR, .form = "METRES",
               .max = BENCH_LATENCY_CABLE_MOST * FACTOR_ONE,
               .help = "latency: length of the cable")},
        {VALUE("--rfc-times", FIELD_FLAG,
               .help = "rfc2544: trials as long and as many as the RFC requires (takes hours)")},
        {VALUE("--hours", FIELD_FACTOR, .form = "H", .min = HOURS_MIN, .max = HOURS_MAX,
               .initial = FACTOR_ONE, .help = "soak: how long it runs in total")},
        {VALUE("--loss-bound", FIELD_PROBABILITY, .form = "P", .initial = LOSS_BOUND,
               .help = "soak: the critical load is the highest with at most this share lost, like "
                       "1e-7")},
        {VALUE("--continue", FIELD_TEXT, .form = "FILE",
               .help = "soak: saves the results in FILE after each part; if FILE exists, "
                       "continues from there")},
        {VALUE("--bound", FIELD_PROBABILITY, .form = "P", .initial = BOUND,
               .help = "compare: how much worse a figure must be to count as a regression, like "
                       "25%")},
        {OPTION_JSON(union option_value, "one JSON object")},
        {VALUE("--html", FIELD_TEXT, .form = "FILE", .help = "a report with charts")},
        OPTIONS_END,
};

const struct options bench_options = {
        .command = "bench",
        .usage = "[PART ...] [options]\n"
                 "latency [--device A --device B] [--cable METRES] [options]\n"
                 "compare OLD.json [NEW.json] [options]",
        .does = "Measures what a packet costs, how precisely it leaves, and what this machine can "
                "carry.",
        .about =
                "Without a part: all of them but latency, reconf and soak; takes a few minutes.\n"
                "\n"
                "  cost       packets a second, ns and cycles a packet, beside the ceiling of the\n"
                "             ports alone\n"
                "  precision  how late packets leave, beside the machine's own noise\n"
                "  depth      cost and memory with 0.1 to 7.5 million packets in flight\n"
                "  clouds     cost with many clouds\n"
                "  clock      100 ms of weir's clock against CLOCK_MONOTONIC_RAW\n"
                "  rfc2544    throughput, latency, loss rate, back-to-back\n"
                "  latency    the latency that two devices add, over a cable between them, and\n"
                "             the words of `port` that subtract it\n"
                "  reconf     how long 1,000 changes, of every statement in turn, block packets\n"
                "             at 1 Mpps\n"
                "  soak       the critical load, and hours at half of it, with a change each\n"
                "             second, and `weir top`, `weir serve` and a capture attached\n"
                "  machine    facts of this machine, and which of them cost precision\n"
                "  compare    measures again what the output of an earlier -j holds, or takes a\n"
                "             second one, and compares; exit status 1 if a figure is worse\n",
        .rows = rows,
};

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

static json_t *wrong(const char *text)
{
	return json_pack("{s:o,s:b}", "error", figures_string(text), "wrong", 1);
}

static json_t *answer_scenarios(const json_t *question)
{
	json_t *names = json_array();

	(void)question;
	for (const struct bench_scenario *own = bench_scenarios; own->name; own++)
		json_array_append_new(names, json_string(own->name));
	return json_pack("{s:o}", "scenarios", names);
}

/* Takes the conditions of all that follows, and checks what would otherwise fail only after
 * minutes. */
static json_t *answer_prepare(const json_t *question)
{
	const struct sched_param param = {.sched_priority =
	                                          (int)bench_number(question, "priority")};
	const struct sched_param normal = {.sched_priority = 0};
	char path[PATH_MAX], message[SCENARIO_FILE_ERROR];
	const char *config = python_path(question, "config", path);
	struct problem problem;
	struct cpu_list cores;

	bench_stop_on_signals();
	if (cpu_list_parse(json_string_value(json_object_get(question, "cores")), &cores,
	                   &problem) < 0)
		return wrong(problem.text);
	if (config && scenario_file_load(config, &bench.scenario, message, sizeof(message)) != 0)
		return wrong(message);
	if (param.sched_priority > 0 && sched_setscheduler(0, SCHED_FIFO, &param) < 0) {
		problem_set(&problem, -1, "--priority %d: %s; this needs root or CAP_SYS_NICE",
		            param.sched_priority, strerror(errno));
		return wrong(problem.text);
	}
	if (param.sched_priority > 0)
		sched_setscheduler(0, SCHED_OTHER, &normal);
	bench_machine_read("", cores.cpu[0], &bench.machine);
	bench.conditions = (struct bench_conditions){
	        .layout = json_is_true(json_object_get(question, "pipeline"))
	                          ? LAYOUT_PIPELINE
	                          : LAYOUT_RUN_TO_COMPLETION,
	        .priority = param.sched_priority,
	        .flight_ns = (uint64_t)bench_number(question, "flight_ns"),
	        .flight_snap = (uint32_t)bench_number(question, "snap"),
	};
	return json_pack("{s:s,s:i}", "unread", bench.machine.unread, "ports",
	                 bench.scenario ? (int)bench.scenario->n_ports : 0);
}

/* Begins the measurement: with EAL, unless it needs neither devices nor packets. */
static json_t *answer_begin(const json_t *question)
{
	const char *cores = json_string_value(json_object_get(question, "cores"));
	struct problem problem = {.text = ""};
	json_t *device;
	bool pci = false;
	size_t i;

	/* If a file reaches its size limit, the write returns an error. DPDK does without the file
	 * in which it keeps memory that is not in hugepages. */
	signal(SIGXFSZ, SIG_IGN);
	bench.eal = json_is_true(json_object_get(question, "eal"));
	json_array_foreach(json_object_get(question, "devices"), i, device)
	{
		pci |= port_is_pci(json_string_value(device));
	}
	if (bench.eal && eal_start_live(cores, 0, NULL, pci, size_memory(), &problem) < 0) {
		bench.eal = false;
		return bench_failed(-EINVAL, &problem);
	}
	if (problem.text[0])
		fprintf(stderr, "weir bench: %s\n", problem.text);
	/* Free hugepages may be too few, or forbidden by a limit. */
	bench.hugepages = bench.eal && rte_eal_has_hugepages();
	/* A second worker of a run to completion would send into a ring that no worker receives
	 * from. */
	return json_pack("{s:b,s:i}", "rings",
	                 bench.conditions.layout != LAYOUT_RUN_TO_COMPLETION ||
	                         rte_lcore_count() <= 2,
	                 "pid", (int)getpid());
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
	if (json_is_true(json_object_get(question, "doctor"))) {
		doctor_examine("", &bench.machine, bench.scenario,
		               memory_plan_huge_mib(bench.scenario), &doctor);
		examined = doctor_json(&doctor);
	}
	return json_pack(
	        "{s:o,s:o*}", "machine",
	        bench_json_machine(&bench.machine, tsc_hz, bench.hugepages, &bench.conditions),
	        "doctor", examined);
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
        {"scenarios", answer_scenarios},
        {"prepare", answer_prepare},
        {"begin", answer_begin},
        {"end", answer_end},
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

int command_bench(int argc, char **argv)
{
	static const struct python_command command = {
	        .options = &bench_options,
	        .module = "weir.bench.command",
	        .unable = 2,
	        .asks = asks,
	};
	int status = python_command(&command, argc, argv);

	stop();
	scenario_free(bench.scenario);
	return status;
}
