/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/nearest.h"
#include "text/quantity.h"

#define MEMORY_MIN (UINT64_C(4) << 20)
#define MEMORY_MAX (UINT64_C(1) << 44)

static const char usage[] =
        "usage: weir run -c FILE [-s SOCKET] [--cores LIST] [options] [-- EAL ARGS]\n"
        "\n"
        "Runs a scenario live, between the ports it names, until SIGINT or SIGTERM.\n"
        "\n"
        "  -c, --config FILE    the scenario\n"
        "  -s, --socket PATH    where `weir ctl` finds it; /run/weir.sock for root, if not given\n"
        "      --cores LIST     processors for the workers, like 2,4-5; the last one, if not "
        "given\n"
        "      --layout LAYOUT  run-to-completion (each worker receives, emulates and sends), or\n"
        "                       pipeline (rx, emulation and tx on workers of their own; 3 or "
        "more)\n"
        "      --memory SIZE    for packets in flight, like 512MiB; what the scenario needs, if "
        "not "
        "given\n"
        "  -q, --quiet          no table at the end\n"
        "  -h, --help\n"
        "\n"
        "What stands behind -- goes to DPDK's environment abstraction layer.\n";

static int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *format, ...)
{
	va_list arguments;

	fputs("weir run: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return RUN_ARGUMENTS_WRONG;
}

static int parse_memory(const char *text, uint64_t *bytes)
{
	struct decimal decimal;
	const struct unit *size;

	if (!decimal_scan(text, &decimal) || !(size = unit_find(units_bytes, decimal.rest)) ||
	    quantity_value(&decimal, size, bytes) != QUANTITY_OK)
		return wrong("--memory %s: is no size; right would be 512MiB (B, kB, MB, KiB, MiB)",
		             text);
	if (*bytes < MEMORY_MIN || *bytes > MEMORY_MAX)
		return wrong("--memory %s: must be from 4MiB to 16777216MiB", text);
	return RUN_ARGUMENTS_RUN;
}

static int parse_layout(const char *text, enum runtime_layout *layout)
{
	if (strcmp(text, "run-to-completion") == 0)
		*layout = LAYOUT_RUN_TO_COMPLETION;
	else if (strcmp(text, "pipeline") == 0)
		*layout = LAYOUT_PIPELINE;
	else
		return wrong("--layout %s: is run-to-completion or pipeline", text);
	return RUN_ARGUMENTS_RUN;
}

enum { OPTION_CORES = 256, OPTION_LAYOUT, OPTION_MEMORY };

static const struct option long_options[] = {
        {"config", required_argument, NULL, 'c'},
        {"socket", required_argument, NULL, 's'},
        {"cores", required_argument, NULL, OPTION_CORES},
        {"layout", required_argument, NULL, OPTION_LAYOUT},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int parse_option(int option, struct run_arguments *arguments)
{
	switch (option) {
	case 'c':
		arguments->config = optarg;
		return RUN_ARGUMENTS_RUN;
	case 's':
		arguments->socket = optarg;
		return RUN_ARGUMENTS_RUN;
	case 'q':
		arguments->quiet = true;
		return RUN_ARGUMENTS_RUN;
	case 'h':
		fputs(usage, stdout);
		return RUN_ARGUMENTS_HELP;
	case OPTION_CORES:
		arguments->cores = optarg;
		return RUN_ARGUMENTS_RUN;
	case OPTION_LAYOUT:
		return parse_layout(optarg, &arguments->layout);
	case OPTION_MEMORY:
		return parse_memory(optarg, &arguments->memory_bytes);
	default:
		return RUN_ARGUMENTS_WRONG;
	}
}

/* getopt's own message for an unknown option does not say which one is near. */
static int unknown(int argc, char **argv, int option)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	struct nearest nearest;

	nearest_start(&nearest, word + strspn(word, "-"));
	for (const struct option *each = long_options; each->name; each++)
		nearest_try(&nearest, each->name);
	if (option == ':')
		return wrong("%s wants a value; weir run --help", word);
	if (nearest.best)
		return wrong("unknown option %s; --%s?", word, nearest.best);
	return wrong("unknown option %s; weir run --help lists them", word);
}

int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments)
{
	int option, status;

	memset(arguments, 0, sizeof(*arguments));
	optind = 1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:c:s:qh", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return unknown(argc, argv, option);
		status = parse_option(option, arguments);
		if (status != RUN_ARGUMENTS_RUN)
			return status;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
		return wrong("unexpected `%s`; arguments for DPDK stand behind --", argv[optind]);
	arguments->eal = argv + optind;
	arguments->n_eal = argc - optind;
	optind = 0; /* the EAL parses with getopt, too */
	if (!arguments->config)
		return wrong("no scenario: weir run -c FILE");
	return RUN_ARGUMENTS_RUN;
}
