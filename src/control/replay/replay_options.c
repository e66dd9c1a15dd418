/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"
#include "text/nearest.h"
#include "text/quantity.h"
#include "text/value.h"

#define MEMORY_MIN (UINT64_C(16) << 20)

static const char usage[] =
        "usage: weir replay -c FILE --in PORT=PCAP ... --out PORT=PCAP ... [options]\n"
        "\n"
        "Passes captures through a scenario, in virtual time: same seed, same bytes.\n"
        "\n"
        "  -c, --config FILE     the scenario\n"
        "      --in PORT=PCAP    packets that come in at a port (pcap or pcapng, Ethernet; - is "
        "stdin)\n"
        "      --in A,B=PCAP     one capture of both directions, with --split\n"
        "      --out PORT=PCAP   where packets that leave at a port are written (pcap, ns; - is "
        "stdout)\n"
        "      --split RULE      which frames of it come in at A, all others at B: mac=ADDRESS,\n"
        "                        ip=ADDRESS[/LENGTH] or port=NUMBER of the source, or first: the "
        "source\n"
        "                        of the first frame\n"
        "      --seed N          instead of the scenario's; if nobody says one, it is drawn and "
        "printed\n"
        "      --report FILE     what was counted, as JSON\n"
        "      --log FILE        the fate of every packet, as CSV\n"
        "      --picture FILE    delays, losses and queues over time, as one HTML file\n"
        "      --burst N         packets handed over at once, 1 to 32; the outcome is the same\n"
        "      --memory SIZE     the most for packets in flight, 1024MiB if not given\n"
        "  -q, --quiet           no table, no progress\n"
        "  -h, --help\n";

static int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *format, ...)
{
	va_list arguments;

	fputs("weir replay: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return REPLAY_ARGUMENTS_WRONG;
}

static int parse_binding(const char *option, const char *text, struct replay_binding *bindings,
                         uint32_t *n)
{
	struct replay_binding *binding = &bindings[*n];
	char *equals, *comma;

	if (*n == REPLAY_FILES_MAX)
		return wrong("%s %s: more than %d files", option, text, REPLAY_FILES_MAX);
	binding->text = strdup(text);
	if (!binding->text)
		return wrong("no memory");
	(*n)++;
	equals = strchr(binding->text, '=');
	if (!equals || equals == binding->text || equals[1] == '\0')
		return wrong("%s %s: a port and a file are wanted, like %s a=FILE", option, text,
		             option);
	*equals = '\0';
	binding->first = binding->text;
	binding->path = equals + 1;
	comma = strchr(binding->text, ',');
	if (comma) {
		*comma = '\0';
		binding->second = comma + 1;
	}
	return REPLAY_ARGUMENTS_RUN;
}

static int parse_number(const char *option, const char *text, uint64_t min, uint64_t max,
                        uint64_t *value)
{
	struct language_error error;

	if (value_parse_count(text, min, max, option, value, &error))
		return wrong("%s %s: %s", option, text, error.text);
	return REPLAY_ARGUMENTS_RUN;
}

static int parse_memory(const char *text, uint64_t *bytes)
{
	struct decimal decimal;
	const struct unit *size;

	if (!decimal_scan(text, &decimal) || !(size = unit_find(units_bytes, decimal.rest)) ||
	    quantity_value(&decimal, size, bytes) != QUANTITY_OK)
		return wrong("--memory %s: is no size; right would be 512MiB (B, kB, MB, KiB, MiB)",
		             text);
	if (*bytes < MEMORY_MIN || *bytes > UINT64_C(1) << 44)
		return wrong("--memory %s: must be from 16MiB to 16777216MiB", text);
	return REPLAY_ARGUMENTS_RUN;
}

enum {
	OPTION_IN = 256,
	OPTION_OUT,
	OPTION_SPLIT,
	OPTION_SEED,
	OPTION_REPORT,
	OPTION_LOG,
	OPTION_PICTURE,
	OPTION_BURST,
	OPTION_MEMORY
};

static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"in", required_argument, NULL, OPTION_IN},
        {"out", required_argument, NULL, OPTION_OUT},
        {"split", required_argument, NULL, OPTION_SPLIT},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"report", required_argument, NULL, OPTION_REPORT},
        {"log", required_argument, NULL, OPTION_LOG},
        {"picture", required_argument, NULL, OPTION_PICTURE},
        {"burst", required_argument, NULL, OPTION_BURST},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int parse_option(int option, char *text, struct replay_arguments *a)
{
	uint64_t burst;
	int status;

	switch (option) {
	case 'c':
		a->config = text;
		return REPLAY_ARGUMENTS_RUN;
	case OPTION_IN:
		return parse_binding("--in", text, a->in_text, &a->n_in);
	case OPTION_OUT:
		return parse_binding("--out", text, a->out_text, &a->n_out);
	case OPTION_SPLIT:
		a->split = text;
		return REPLAY_ARGUMENTS_RUN;
	case OPTION_SEED:
		a->seed_given = true;
		return parse_number("--seed", text, 0, UINT64_MAX, &a->seed);
	case OPTION_REPORT:
		a->report = text;
		return REPLAY_ARGUMENTS_RUN;
	case OPTION_LOG:
		a->log = text;
		return REPLAY_ARGUMENTS_RUN;
	case OPTION_PICTURE:
		a->picture = text;
		return REPLAY_ARGUMENTS_RUN;
	case OPTION_BURST:
		status = parse_number("--burst", text, 1, BURST_MAX, &burst);
		a->burst = (uint32_t)burst;
		return status;
	case OPTION_MEMORY:
		return parse_memory(text, &a->memory_bytes);
	case 'q':
		a->quiet = true;
		return REPLAY_ARGUMENTS_RUN;
	case 'h':
		fputs(usage, stdout);
		return REPLAY_ARGUMENTS_HELP;
	}
	return REPLAY_ARGUMENTS_WRONG;
}

/* The nearest of the known options, for a word that is none. */
static int unknown_option(const char *word)
{
	struct nearest nearest;

	while (*word == '-')
		word++;
	nearest_start(&nearest, word);
	for (const struct option *o = options; o->name; o++)
		nearest_try(&nearest, o->name);
	if (nearest.best)
		return wrong("--%s: no such option; did you mean --%s?", word, nearest.best);
	return wrong("-%s%s: no such option; weir replay --help lists them",
	             strlen(word) > 1 ? "-" : "", word);
}

static int check_complete(const struct replay_arguments *a)
{
	if (!a->config)
		return wrong("no scenario is given; -c FILE names it");
	if (a->n_in == 0)
		return wrong("no capture is given; --in PORT=PCAP names one");
	if (a->n_out == 0 && !a->report && !a->log && !a->picture)
		return wrong("nothing is asked for; --out PORT=PCAP, --report FILE, --log FILE or "
		             "--picture FILE");
	return REPLAY_ARGUMENTS_RUN;
}

int replay_arguments_parse(int argc, char **argv, struct replay_arguments *a)
{
	int status = REPLAY_ARGUMENTS_RUN;

	a->memory_bytes = REPLAY_MEMORY;
	opterr = 0;
	optind = 0; /* GNU: start again; argv is not the process's */
	while (status == REPLAY_ARGUMENTS_RUN) {
		int option = getopt_long(argc, argv, ":c:qh", options, NULL);

		if (option < 0)
			break;
		if (option == '?')
			status = unknown_option(argv[optind - 1]);
		else if (option == ':')
			status = wrong("%s: needs a value; see weir replay --help",
			               argv[optind - 1]);
		else
			status = parse_option(option, optarg, a);
	}
	if (status == REPLAY_ARGUMENTS_RUN && optind < argc)
		status = wrong("%s: not expected; captures are given as --in PORT=PCAP",
		               argv[optind]);
	if (status == REPLAY_ARGUMENTS_RUN)
		status = check_complete(a);
	if (status != REPLAY_ARGUMENTS_RUN)
		replay_arguments_release(a);
	return status;
}

void replay_arguments_release(struct replay_arguments *arguments)
{
	for (uint32_t i = 0; i < REPLAY_FILES_MAX; i++) {
		free(arguments->in_text[i].text);
		free(arguments->out_text[i].text);
		arguments->in_text[i].text = NULL;
		arguments->out_text[i].text = NULL;
	}
}
