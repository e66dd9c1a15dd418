/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_loads.h"
#include "bench/bench_scenarios.h"
#include "text/nearest.h"
#include "text/quantity.h"
#include "measure/bench_latency.h"
#include "measure/bench_spread.h"
#include "measure/bench_tester.h"

#define FRAME_MIN    64
#define FRAME_MAX    9600
#define BOUND        0.25
#define PRIORITY_MAX 99

static const char usage[] =
        "usage: weir bench [PART ...] [options]\n"
        "       weir bench latency [--device A --device B] [--cable METRES] [options]\n"
        "       weir bench compare OLD.json [NEW.json] [options]\n"
        "\n"
        "What a packet costs, how exactly it leaves on time, and what this machine can carry.\n"
        "Without a part: all of them but latency, in a few minutes.\n"
        "\n"
        "  cost           packets a second, ns and cycles a packet, beside the ports' own ceiling\n"
        "  precision      departures against due times, beside the machine's own noise\n"
        "  depth          cost and memory with 0.1 to 7.5 million packets in flight\n"
        "  clouds         cost with many clouds\n"
        "  clock          100 ms of weir's clock against CLOCK_MONOTONIC_RAW\n"
        "  rfc2544        throughput, latency, loss rate, back-to-back\n"
        "  latency        what two devices add, over a cable between them, and the words that\n"
        "                 take it away\n"
        "  machine        what this machine is, and what of it costs precision\n"
        "  compare        against the output of an earlier -j, or of two; 1 if it is slower\n"
        "\n"
        "  -c, --config FILE     measure this scenario (cost, rfc2544)\n"
        "      --scenario NAME   cost: of this one of its own scenarios alone\n"
        "      --load TEXT       precision: of the loads that have TEXT in their names alone\n"
        "      --frame N         frames of N bytes, 64 to 9600, or imix\n"
        "      --seconds N       of each run\n"
        "      --runs N          of each figure; their median counts (5)\n"
        "      --full            every scenario with every frame size (cost)\n"
        "      --cores LIST      processors for the workers, like 2,4-5; the last, if not given\n"
        "      --layout LAYOUT   run-to-completion or pipeline, as of weir run\n"
        "      --priority N      real-time priority of the workers, 1 to 99\n"
        "      --device DEVICE   rfc2544: twice, the ports at the device under test; without,\n"
        "                        weir itself is the device under test, in this process\n"
        "      --line-rate RATE  rfc2544: the most that is offered, like 10gbit; latency: of the\n"
        "                        wire, where it is not the NIC's link\n"
        "      --cable METRES    latency: of the cable, 0 to 10000 (0)\n"
        "      --rfc-times       rfc2544: trials as long as the RFC wants them (hours)\n"
        "      --bound P         compare: how much slower is a regression, like 25%\n"
        "  -j, --json            one JSON object\n"
        "      --html FILE       a report with pictures\n"
        "  -h, --help\n";

static const char *const part_names[BENCH_PARTS] = {"cost",    "precision", "depth",
                                                    "clouds",  "clock",     "rfc2544",
                                                    "latency", "machine",   "compare"};

static int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *format, ...)
{
	va_list arguments;

	fputs("weir bench: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return BENCH_ARGUMENTS_WRONG;
}

static bool take_number(const char *text, double min, double max, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	return errno == 0 && end != text && *end == '\0' && *value >= min && *value <= max;
}

static int take_frame(const char *text, struct bench_arguments *arguments)
{
	double bytes = 0;

	arguments->frame_given = true;
	if (strcmp(text, "imix") != 0 && strcmp(text, "IMIX") != 0 &&
	    (!take_number(text, FRAME_MIN, FRAME_MAX, &bytes) || bytes != (uint32_t)bytes))
		return wrong("--frame %s: is a length from %d to %d bytes, or imix", text,
		             FRAME_MIN, FRAME_MAX);
	arguments->frame_bytes = (uint32_t)bytes;
	return BENCH_ARGUMENTS_RUN;
}

static int take_load(const char *text, struct bench_arguments *arguments)
{
	arguments->load = text;
	for (const struct bench_load *load = bench_loads; load->name; load++) {
		if (bench_load_is(load, text))
			return BENCH_ARGUMENTS_RUN;
	}
	return wrong("no load has `%s` in its name; weir bench precision names them all, like "
	             "`%s`",
	             text, bench_loads[0].name);
}

static int take_scenario(const char *text, struct bench_arguments *arguments)
{
	struct nearest nearest;

	arguments->scenario = bench_scenario_find(text);
	if (arguments->scenario)
		return BENCH_ARGUMENTS_RUN;
	nearest_start(&nearest, text);
	for (const struct bench_scenario *each = bench_scenarios; each->name; each++)
		nearest_try(&nearest, each->name);
	if (nearest.best)
		return wrong("there is no scenario `%s`; did you mean `%s`?", text, nearest.best);
	return wrong("there is no scenario `%s`; weir bench cost measures all there are, like "
	             "`%s` and `full`",
	             text, BENCH_SCENARIO_DELAY->name);
}

static int take_seconds(const char *text, struct bench_arguments *arguments)
{
	if (!take_number(text, 0.05, BENCH_SECONDS_MAX, &arguments->seconds))
		return wrong("--seconds %s: is a number from 0.05 to %d", text, BENCH_SECONDS_MAX);
	return BENCH_ARGUMENTS_RUN;
}

static int take_runs(const char *text, struct bench_arguments *arguments)
{
	double runs;

	if (!take_number(text, 1, BENCH_RUNS_MAX / 2, &runs) || runs != (uint32_t)runs)
		return wrong("--runs %s: is a whole number from 1 to %d", text, BENCH_RUNS_MAX / 2);
	arguments->runs = (uint32_t)runs;
	return BENCH_ARGUMENTS_RUN;
}

static int take_priority(const char *text, struct bench_arguments *arguments)
{
	double priority;

	if (!take_number(text, 1, PRIORITY_MAX, &priority) || priority != (int)priority)
		return wrong("--priority %s: is a whole number from 1 to %d", text, PRIORITY_MAX);
	arguments->priority = (int)priority;
	return BENCH_ARGUMENTS_RUN;
}

static int take_bound(const char *text, struct bench_arguments *arguments)
{
	char number[32];
	size_t bytes = strcspn(text, "%");
	double percent;

	snprintf(number, sizeof(number), "%.*s", (int)bytes, text);
	if (strcmp(text + bytes, "%") != 0 || !take_number(number, 0, 100, &percent))
		return wrong("--bound %s: is a share from 0%% to 100%%, like 25%%", text);
	arguments->bound = percent / 100;
	arguments->bound_given = true;
	return BENCH_ARGUMENTS_RUN;
}

static int take_rate(const char *text, struct bench_arguments *arguments)
{
	const struct unit *unit;
	struct decimal decimal;
	uint64_t bps;

	if (!decimal_scan(text, &decimal) || !(unit = unit_find(units_rate, decimal.rest)) ||
	    quantity_value(&decimal, unit, &bps) != QUANTITY_OK || bps == 0)
		return wrong("--line-rate %s: is a rate like 10gbit (bit, kbit, mbit, gbit)", text);
	arguments->line_bps = (double)bps;
	return BENCH_ARGUMENTS_RUN;
}

static int take_cable(const char *text, struct bench_arguments *arguments)
{
	if (!take_number(text, 0, BENCH_LATENCY_CABLE_MOST, &arguments->cable_m))
		return wrong("--cable %s: is a length in metres, from 0 to %d", text,
		             BENCH_LATENCY_CABLE_MOST);
	arguments->cable_given = true;
	return BENCH_ARGUMENTS_RUN;
}

static int take_layout(const char *text, struct bench_arguments *arguments)
{
	if (strcmp(text, "run-to-completion") == 0)
		arguments->layout = LAYOUT_RUN_TO_COMPLETION;
	else if (strcmp(text, "pipeline") == 0)
		arguments->layout = LAYOUT_PIPELINE;
	else
		return wrong("--layout %s: is run-to-completion or pipeline", text);
	return BENCH_ARGUMENTS_RUN;
}

static int take_device(const char *text, struct bench_arguments *arguments)
{
	if (arguments->n_devices == BENCH_DEVICES)
		return wrong("--device %s: there are two already, one at each side of the device "
		             "under test",
		             text);
	arguments->devices[arguments->n_devices++] = text;
	return BENCH_ARGUMENTS_RUN;
}

enum {
	OPTION_FRAME = 256,
	OPTION_SCENARIO,
	OPTION_LOAD,
	OPTION_SECONDS,
	OPTION_RUNS,
	OPTION_FULL,
	OPTION_CORES,
	OPTION_LAYOUT,
	OPTION_PRIORITY,
	OPTION_DEVICE,
	OPTION_CABLE,
	OPTION_LINE_RATE,
	OPTION_RFC_TIMES,
	OPTION_BOUND,
	OPTION_HTML,
};

static const struct option long_options[] = {
        {"config", required_argument, NULL, 'c'},
        {"frame", required_argument, NULL, OPTION_FRAME},
        {"scenario", required_argument, NULL, OPTION_SCENARIO},
        {"load", required_argument, NULL, OPTION_LOAD},
        {"seconds", required_argument, NULL, OPTION_SECONDS},
        {"runs", required_argument, NULL, OPTION_RUNS},
        {"full", no_argument, NULL, OPTION_FULL},
        {"cores", required_argument, NULL, OPTION_CORES},
        {"layout", required_argument, NULL, OPTION_LAYOUT},
        {"priority", required_argument, NULL, OPTION_PRIORITY},
        {"device", required_argument, NULL, OPTION_DEVICE},
        {"cable", required_argument, NULL, OPTION_CABLE},
        {"line-rate", required_argument, NULL, OPTION_LINE_RATE},
        {"rfc-times", no_argument, NULL, OPTION_RFC_TIMES},
        {"bound", required_argument, NULL, OPTION_BOUND},
        {"json", no_argument, NULL, 'j'},
        {"html", required_argument, NULL, OPTION_HTML},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int take_option(int option, struct bench_arguments *arguments)
{
	switch (option) {
	case OPTION_FRAME:
		return take_frame(optarg, arguments);
	case OPTION_SCENARIO:
		return take_scenario(optarg, arguments);
	case OPTION_LOAD:
		return take_load(optarg, arguments);
	case OPTION_SECONDS:
		return take_seconds(optarg, arguments);
	case OPTION_RUNS:
		return take_runs(optarg, arguments);
	case OPTION_PRIORITY:
		return take_priority(optarg, arguments);
	case OPTION_BOUND:
		return take_bound(optarg, arguments);
	case OPTION_LINE_RATE:
		return take_rate(optarg, arguments);
	case OPTION_CABLE:
		return take_cable(optarg, arguments);
	case OPTION_LAYOUT:
		return take_layout(optarg, arguments);
	case OPTION_DEVICE:
		return take_device(optarg, arguments);
	case OPTION_FULL:
		arguments->full = true;
		break;
	case OPTION_RFC_TIMES:
		arguments->rfc_times = true;
		break;
	case OPTION_CORES:
		arguments->cores = optarg;
		break;
	case OPTION_HTML:
		arguments->html = optarg;
		break;
	case 'c':
		arguments->config = optarg;
		break;
	case 'j':
		arguments->json = true;
		break;
	default:
		fputs(usage, stdout);
		return BENCH_ARGUMENTS_HELP;
	}
	return BENCH_ARGUMENTS_RUN;
}

static int unknown_option(int argc, char **argv, int option)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	struct nearest nearest;

	if (option == ':')
		return wrong("%s wants a value; weir bench --help", word);
	nearest_start(&nearest, word + strspn(word, "-"));
	for (const struct option *each = long_options; each->name; each++)
		nearest_try(&nearest, each->name);
	if (nearest.best)
		return wrong("unknown option %s; --%s?", word, nearest.best);
	return wrong("unknown option %s; weir bench --help lists them", word);
}

static int take_part(const char *word, struct bench_arguments *arguments)
{
	struct nearest nearest;

	nearest_start(&nearest, word);
	for (int part = 0; part < BENCH_PARTS; part++) {
		if (strcmp(word, part_names[part]) == 0) {
			arguments->parts[part] = true;
			return BENCH_ARGUMENTS_RUN;
		}
		nearest_try(&nearest, part_names[part]);
	}
	if (nearest.best)
		return wrong("there is no part `%s`; did you mean `%s`?", word, nearest.best);
	return wrong(
	        "there is no part `%s`; there are cost, precision, depth, clouds, clock, rfc2544, "
	        "latency, machine and compare",
	        word);
}

static int take_words(int argc, char **argv, struct bench_arguments *arguments)
{
	for (; optind < argc; optind++) {
		int status;

		if (arguments->parts[BENCH_COMPARE] && !arguments->compare) {
			arguments->compare = argv[optind];
			continue;
		}
		if (arguments->parts[BENCH_COMPARE] && !arguments->against) {
			arguments->against = argv[optind];
			continue;
		}
		status = take_part(argv[optind], arguments);
		if (status != BENCH_ARGUMENTS_RUN)
			return status;
	}
	return BENCH_ARGUMENTS_RUN;
}

#define PART(part) (1u << BENCH_##part)

/* An option that none of the parts takes is a mistake, not a wish that may be passed over. */
static int check_used(const struct bench_arguments *arguments)
{
	const struct {
		const char *name, *parts;
		bool given;
		uint32_t mask;
	} options[] = {
	        {"--frame", "cost, rfc2544 and latency", arguments->frame_given,
	         PART(COST) | PART(RFC2544) | PART(LATENCY)},
	        {"--config", "cost, rfc2544 and machine", arguments->config != NULL,
	         PART(COST) | PART(RFC2544) | PART(MACHINE)},
	        {"--scenario", "cost", arguments->scenario != NULL, PART(COST)},
	        {"--load", "precision", arguments->load != NULL, PART(PRECISION)},
	        {"--full", "cost", arguments->full, PART(COST)},
	        {"--device", "rfc2544 and latency", arguments->n_devices > 0,
	         PART(RFC2544) | PART(LATENCY)},
	        {"--cable", "latency", arguments->cable_given, PART(LATENCY)},
	        {"--line-rate", "rfc2544 and latency", arguments->line_bps > 0,
	         PART(RFC2544) | PART(LATENCY)},
	        {"--rfc-times", "rfc2544", arguments->rfc_times, PART(RFC2544)},
	        {"--bound", "compare", arguments->bound_given, PART(COMPARE)},
	};
	uint32_t asked = 0;

	for (int part = 0; part < BENCH_PARTS; part++)
		asked |= arguments->parts[part] ? 1u << part : 0;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].given && !(options[i].mask & asked))
			return wrong("%s is for %s: not for what is asked for here",
			             options[i].name, options[i].parts);
	}
	return BENCH_ARGUMENTS_RUN;
}

/* What would fail only when its turn comes, after minutes. */
static int check_tester(const struct bench_arguments *arguments)
{
	const char *part = arguments->parts[BENCH_RFC2544] ? "rfc2544" : "latency";

	if (!arguments->frame_given ||
	    (!arguments->parts[BENCH_RFC2544] && !arguments->parts[BENCH_LATENCY]))
		return BENCH_ARGUMENTS_RUN;
	if (arguments->frame_bytes == 0)
		return wrong("--frame imix: %s takes one length, from 64 to %d; without it: weir "
		             "bench cost --frame imix",
		             part, BENCH_TESTER_BYTES);
	if (arguments->frame_bytes > BENCH_TESTER_BYTES)
		return wrong("--frame %u: %s takes lengths from 64 to %d; without it: weir bench "
		             "cost --frame %u",
		             arguments->frame_bytes, part, BENCH_TESTER_BYTES,
		             arguments->frame_bytes);
	return BENCH_ARGUMENTS_RUN;
}

static int check(struct bench_arguments *arguments)
{
	bool any = false;

	for (int part = 0; part < BENCH_PARTS; part++)
		any |= arguments->parts[part];
	for (int part = 0; part < BENCH_COMPARE && !any; part++)
		arguments->parts[part] = part != BENCH_LATENCY;
	if (arguments->parts[BENCH_COMPARE] && !arguments->compare)
		return wrong("compare with what? weir bench compare OLD.json");
	for (int part = 0; part < BENCH_COMPARE; part++) {
		if (arguments->parts[BENCH_COMPARE] && arguments->parts[part])
			return wrong("compare measures what the file holds: no other part beside "
			             "it");
	}
	if (arguments->n_devices == 1)
		return wrong("--device %s: rfc2544 takes two, one at each side of the device under "
		             "test, and latency the two ends of a cable",
		             arguments->devices[0]);
	if (arguments->scenario && arguments->config)
		return wrong("--scenario and -c: measure one of weir's own scenarios, or your own");
	if (arguments->n_devices > 0 && arguments->config)
		return wrong("--device and -c: the device under test is either another one, or "
		             "weir with this scenario");
	if (arguments->against && (arguments->json || arguments->html))
		return wrong("compare of two files measures nothing: there is no %s of it, only "
		             "the verdict",
		             arguments->json ? "-j" : "--html");
	if (check_used(arguments) != BENCH_ARGUMENTS_RUN)
		return BENCH_ARGUMENTS_WRONG;
	return check_tester(arguments);
}

int bench_arguments_parse(int argc, char **argv, struct bench_arguments *arguments)
{
	int option, status;

	memset(arguments, 0, sizeof(*arguments));
	arguments->bound = BOUND;
	optind = 0; /* begin again, whatever was parsed before */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:jh", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return unknown_option(argc, argv, option);
		status = take_option(option, arguments);
		if (status != BENCH_ARGUMENTS_RUN)
			return status;
	}
	status = take_words(argc, argv, arguments);
	optind = 0; /* the EAL parses with getopt, too */
	return status == BENCH_ARGUMENTS_RUN ? check(arguments) : status;
}
