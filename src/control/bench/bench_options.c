/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "command.h"
#include "measure/bench_tester.h"
#include "random/draw.h"
#include "record/recording_run.h"
#include "text/language_error.h"

#define FRAME_MIN    64
#define FRAME_MAX    9600
#define SECONDS_MIN  (FACTOR_ONE / 20)
#define PRIORITY_MAX 99
#define BOUND        (UINT64_C(1) << 61)    /* a quarter, q63 */
#define LOSS_BOUND   UINT64_C(922337203685) /* 1e-7, q63 */
#define HOURS_MIN    (FACTOR_ONE / 1000)
#define HOURS_MAX    (1000 * FACTOR_ONE)

static const char *const part_names[BENCH_PARTS + 1] = {"cost",  "precision", "depth",   "clouds",
                                                        "clock", "rfc2544",   "latency", "reconf",
                                                        "soak",  "machine",   "compare", NULL};

static int take_frame(const struct field *option, char *text, void *to,
                      struct language_error *error)
{
	struct bench_arguments *arguments = to;
	char *end;
	unsigned long bytes = strtoul(text, &end, 10);

	arguments->frame_given = true;
	arguments->frame_bytes = 0;
	if (strcasecmp(text, "imix") == 0)
		return 0;
	if (text[0] == '-' || *end != '\0' || bytes < FRAME_MIN || bytes > FRAME_MAX)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s %s: must be a length from %d to %d bytes, or imix",
		                          option->name, text, FRAME_MIN, FRAME_MAX);
	arguments->frame_bytes = (uint32_t)bytes;
	return 0;
}

static int take_scenario(const struct field *option, char *text, void *to,
                         struct language_error *error)
{
	struct bench_arguments *arguments = to;
	struct nearest nearest;

	(void)option;
	arguments->scenario = bench_scenario_find(text);
	if (arguments->scenario)
		return 0;
	nearest_start(&nearest, text);
	for (const struct bench_scenario *each = bench_scenarios; each->name; each++)
		nearest_try(&nearest, each->name);
	if (nearest.best)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "there is no scenario `%s`; did you mean `%s`?", text,
		                          nearest.best);
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "there is no scenario `%s`; name one that weir bench cost "
	                          "measures, like `delay-10ms` or `full`",
	                          text);
}

static int take_device(const struct field *option, char *text, void *to,
                       struct language_error *error)
{
	struct bench_arguments *arguments = to;

	if (arguments->n_devices == BENCH_DEVICES)
		return language_error_set(error, ERROR_FULL,
		                          "%s %s: there are two already, one at each side of the "
		                          "device under test",
		                          option->name, text);
	arguments->devices[arguments->n_devices++] = text;
	return 0;
}

#define ARGUMENTS  struct bench_arguments
#define PART(part) (1u << BENCH_##part)
#define EVERY_PART ((1u << BENCH_PARTS) - 1)

static const struct option_row rows[] = {
        {OPTION_CONFIG(ARGUMENTS, "cost, rfc2544, compare: measure this scenario"),
         .parts = PART(COST) | PART(RFC2544) | PART(MACHINE) | PART(COMPARE)},
        {OPTION("--scenario", FIELD_TEXT, ARGUMENTS, scenario, .form = "NAME",
                .help = "cost: only this one of weir's own scenarios"),
         .take = take_scenario, .parts = PART(COST)},
        {OPTION("--load", FIELD_TEXT, ARGUMENTS, load,
                .help = "precision: only loads whose names contain TEXT"),
         .parts = PART(PRECISION)},
        {OPTION("--frame", FIELD_TEXT, ARGUMENTS, frame_bytes, .form = "N",
                .help = "frames of N bytes, 64 to 9600, or imix"),
         .take = take_frame, .parts = PART(COST) | PART(RFC2544) | PART(LATENCY)},
        {OPTION("--seconds", FIELD_FACTOR, ARGUMENTS, seconds_us, .form = "N", .min = SECONDS_MIN,
                .max = BENCH_SECONDS_MAX * FACTOR_ONE, .help = "duration of each run"),
         .parts = EVERY_PART & ~(PART(RECONF) | PART(MACHINE))},
        {OPTION("--runs", FIELD_COUNT, ARGUMENTS, runs, .min = 1, .max = BENCH_RUNS_MAX / 2,
                .help = "runs for each figure, of which the median counts (5)"),
         .parts = PART(COST) | PART(DEPTH) | PART(CLOUDS) | PART(RFC2544) | PART(SOAK) |
                  PART(COMPARE)},
        {OPTION("--full", FIELD_FLAG, ARGUMENTS, full,
                .help = "cost: every scenario with every frame size"),
         .parts = PART(COST)},
        {OPTION_CORES(ARGUMENTS), .parts = EVERY_PART & ~PART(CLOCK)},
        {OPTION_LAYOUT(ARGUMENTS),
         .parts = EVERY_PART & ~(PART(CLOCK) | PART(LATENCY) | PART(MACHINE))},
        {OPTION("--priority", FIELD_COUNT, ARGUMENTS, priority, .min = 1, .max = PRIORITY_MAX,
                .help = "real-time priority of the workers"),
         .parts = EVERY_PART & ~(PART(CLOCK) | PART(MACHINE))},
        {OPTION("--flight", FIELD_TIME, ARGUMENTS, flight_ns, .min = SIMTIME_S,
                .help = "cost, precision: with a flight, like weir run --flight"),
         .parts = PART(COST) | PART(PRECISION)},
        {OPTION("--snap", FIELD_BYTES, ARGUMENTS, flight_snap, .min = RECORDING_SNAP_MIN,
                .max = PACKET_BYTES_MAX, .help = "bytes of each frame that the flight keeps"),
         .parts = PART(COST) | PART(PRECISION)},
        {OPTION("--device", FIELD_TEXT, ARGUMENTS, devices, .form = "DEVICE",
                .help = "give it twice: for rfc2544 the ports at the device under test, for "
                        "latency the ends of the cable; if not given, rfc2544 tests weir itself, "
                        "in this process"),
         .take = take_device, .parts = PART(RFC2544) | PART(LATENCY)},
        {OPTION("--line-rate", FIELD_RATE, ARGUMENTS, line_bps, .min = 1,
                .help = "rfc2544: the highest rate to offer, like 10gbit; latency: the rate of the "
                        "wire, if it differs from that of the NIC's link"),
         .parts = PART(RFC2544) | PART(LATENCY)},
        {OPTION("--cable", FIELD_FACTOR, ARGUMENTS, cable_um, .form = "METRES",
                .max = BENCH_LATENCY_CABLE_MOST * FACTOR_ONE,
                .help = "latency: length of the cable"),
         .parts = PART(LATENCY)},
        {OPTION("--rfc-times", FIELD_FLAG, ARGUMENTS, rfc_times,
                .help = "rfc2544: trials as long and as many as the RFC requires (takes hours)"),
         .parts = PART(RFC2544)},
        {OPTION("--hours", FIELD_FACTOR, ARGUMENTS, hours_um, .form = "H", .min = HOURS_MIN,
                .max = HOURS_MAX, .initial = FACTOR_ONE, .help = "soak: how long it runs in total"),
         .parts = PART(SOAK)},
        {OPTION("--loss-bound", FIELD_PROBABILITY, ARGUMENTS, loss_q63, .form = "P",
                .initial = LOSS_BOUND,
                .help = "soak: the critical load is the highest with at most this share lost, like "
                        "1e-7"),
         .parts = PART(SOAK)},
        {OPTION("--continue", FIELD_TEXT, ARGUMENTS, resume, .form = "FILE",
                .help = "soak: saves the results in FILE after each part; if FILE exists, "
                        "continues from there"),
         .parts = PART(SOAK)},
        {OPTION("--bound", FIELD_PROBABILITY, ARGUMENTS, bound_q63, .form = "P", .initial = BOUND,
                .help = "compare: how much worse a figure must be to count as a regression, like "
                        "25%"),
         .parts = PART(COMPARE)},
        {OPTION_JSON(ARGUMENTS, "one JSON object")},
        {OPTION("--html", FIELD_TEXT, ARGUMENTS, html, .form = "FILE",
                .help = "a report with charts")},
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
        .parts = part_names,
};

/* Takes the names of parts, and behind `compare` up to two files. */
static int take_words(const struct options_words *words, struct bench_arguments *arguments)
{
	for (int i = 0; i < words->n; i++) {
		const char *word = words->word[i];
		struct nearest nearest;
		struct listing all;
		int part = 0;

		if (arguments->parts[BENCH_COMPARE] && !arguments->against) {
			*(arguments->compare ? &arguments->against : &arguments->compare) = word;
			continue;
		}
		nearest_start(&nearest, word);
		for (; part < BENCH_PARTS && strcmp(word, part_names[part]) != 0; part++)
			nearest_try(&nearest, part_names[part]);
		if (part < BENCH_PARTS)
			arguments->parts[part] = true;
		else if (nearest.best)
			return options_wrong(&bench_options,
			                     "there is no part `%s`; did you mean `%s`?", word,
			                     nearest.best);
		else
			return options_wrong(&bench_options,
			                     "there is no part `%s`; the parts are %s", word,
			                     options_parts(&bench_options, EVERY_PART, &all));
	}
	return OPTIONS_RUN;
}

/* Rejects an option that has no effect: none of the parts uses it, or nothing is measured, because
 * two files are compared. */
static int check_used(const struct bench_arguments *arguments, const struct options_words *words,
                      uint32_t asked)
{
	for (uint32_t i = 0; arguments->against && rows[i].field.name; i++) {
		if (words->given >> i & 1 && strcmp(rows[i].field.name, "--bound") != 0)
			return options_wrong(&bench_options,
			                     "compare of two files measures nothing: it prints "
			                     "only the verdict, and takes no %s",
			                     rows[i].field.name);
	}
	return options_check_parts(&bench_options, words, asked);
}

/* Rejects options of which one makes the other useless, or that need another. */
static int check_together(const struct bench_arguments *arguments)
{
	const struct bench_arguments *a = arguments;
	const char *other;

	if (a->n_devices == 1)
		return options_wrong(
		        &bench_options,
		        "--device %s: rfc2544 takes two, one at each side of the device under "
		        "test; latency takes two, the ends of a cable",
		        a->devices[0]);
	if (a->scenario && a->config)
		return options_wrong(
		        &bench_options,
		        "--scenario and -c: give only one; measure one of weir's own scenarios, "
		        "or your own");
	if (a->n_devices > 0 && a->config)
		return options_wrong(
		        &bench_options,
		        "--device and -c: give only one; the device under test is either "
		        "between two devices, or weir with this scenario");
	if (a->flight_snap && !a->flight_ns)
		return options_wrong(&bench_options, "--snap needs --flight TIME");
	other = a->frame_given ? "--frame" : a->scenario ? "--scenario" : a->config ? "-c" : NULL;
	if (a->full && other)
		return options_wrong(&bench_options,
		                     "--full and %s: give only one; --full measures every one of "
		                     "weir's own scenarios with every frame size",
		                     other);
	other = a->seconds_us ? "--seconds" : a->runs ? "--runs" : NULL;
	if (a->rfc_times && other)
		return options_wrong(&bench_options,
		                     "--rfc-times and %s: give only one; the RFC says how long "
		                     "trials last, and how many there are",
		                     other);
	return OPTIONS_RUN;
}

/* Checks what would otherwise fail only when its turn comes, after minutes. */
static int check_tester(const struct bench_arguments *arguments)
{
	const char *part = arguments->parts[BENCH_RFC2544]   ? "rfc2544"
	                   : arguments->parts[BENCH_LATENCY] ? "latency"
	                                                     : NULL;
	uint32_t bytes = arguments->frame_bytes;

	if (!arguments->frame_given || !part)
		return OPTIONS_RUN;
	if (bytes == 0)
		return options_wrong(
		        &bench_options,
		        "--frame imix: %s takes one length, from 64 to %d; name only parts "
		        "that take imix, like weir bench cost --frame imix",
		        part, BENCH_TESTER_BYTES);
	if (bytes > BENCH_TESTER_BYTES)
		return options_wrong(
		        &bench_options,
		        "--frame %u: %s takes lengths from 64 to %d; name only parts that "
		        "take more, like weir bench cost --frame %u",
		        bytes, part, BENCH_TESTER_BYTES, bytes);
	return OPTIONS_RUN;
}

static int check(struct bench_arguments *arguments, const struct options_words *words)
{
	uint32_t asked = 0;
	int status;

	for (int part = 0; part < BENCH_PARTS; part++)
		asked |= arguments->parts[part] ? 1u << part : 0;
	if (asked & PART(COMPARE) && !arguments->compare)
		return options_wrong(&bench_options,
		                     "compare needs a file: weir bench compare OLD.json");
	if (asked & PART(COMPARE) && asked != PART(COMPARE))
		return options_wrong(
		        &bench_options,
		        "compare measures what the file holds: name no other part with "
		        "it");
	for (int part = 0; part < BENCH_COMPARE && !asked; part++)
		arguments->parts[part] = part < BENCH_LATENCY || part == BENCH_MACHINE;
	for (int part = 0; part < BENCH_PARTS; part++)
		asked |= arguments->parts[part] ? 1u << part : 0;
	status = check_used(arguments, words, asked);
	if (status == OPTIONS_RUN)
		status = check_together(arguments);
	return status == OPTIONS_RUN ? check_tester(arguments) : status;
}

int bench_arguments_parse(int argc, char **argv, struct bench_arguments *arguments)
{
	struct options_words words;
	int status;

	memset(arguments, 0, sizeof(*arguments));
	status = options_read(&bench_options, argc, argv, arguments, &words);
	if (status == OPTIONS_RUN)
		status = take_words(&words, arguments);
	return status == OPTIONS_RUN ? check(arguments, &words) : status;
}

json_t *bench_answer_asked(const json_t *question)
{
	const struct bench_arguments *a = &bench.arguments;
	json_t *parts = json_array(), *scenarios = json_array();

	(void)question;
	for (int part = 0; part < BENCH_PARTS; part++) {
		if (a->parts[part])
			json_array_append_new(parts, json_string(part_names[part]));
	}
	for (const struct bench_scenario *own = bench_scenarios; own->name; own++)
		json_array_append_new(scenarios, json_string(own->name));
	return json_pack("{s:o,s:o,s:b,s:b,s:b,s:s?,s:o?,s:f,s:i,s:f,s:f,s:f}", "parts", parts,
	                 "scenarios", scenarios, "json", a->json, "full", a->full, "rfc_times",
	                 a->rfc_times, "scenario", a->scenario ? a->scenario->name : NULL, "frame",
	                 a->frame_given ? json_integer(a->frame_bytes) : NULL, "seconds",
	                 (double)a->seconds_us / FACTOR_ONE, "runs", (int)a->runs, "hours",
	                 (double)a->hours_um / FACTOR_ONE, "bound",
	                 (double)a->bound_q63 / (double)PROBABILITY_ONE, "loss_bound",
	                 (double)a->loss_q63 / (double)PROBABILITY_ONE);
}
