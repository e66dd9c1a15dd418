/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_options.h"

#include <string.h>

#include "command.h"

#define MEMORY_MIN (UINT64_C(4) << 20)
#define SLEEP_MOST (10 * SIMTIME_MS)

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct run_arguments, "the scenario")},
        {OPTION_SOCKET(struct run_arguments)},
        {OPTION("--socket-readonly", FIELD_TEXT, struct run_arguments, socket_readonly,
                .form = "PATH",
                .help = "a second socket, for users who may look but change nothing")},
        {OPTION("--readonly-group", FIELD_TEXT, struct run_arguments, readonly_group,
                .form = "GROUP", .help = "the group of that socket, by its name or number")},
        {OPTION_CORES(struct run_arguments)},
        {OPTION_LAYOUT(struct run_arguments)},
        {OPTION_MEMORY(struct run_arguments, MEMORY_MIN, 0,
                       "for packets in flight; if not given, what the scenario needs")},
        {OPTION("--sleep", FIELD_TIME, struct run_arguments, sleep_ns, .min = SIMTIME_US,
                .max = SLEEP_MOST,
                .help = "a worker that has nothing to do sleeps for at most TIME, and a packet "
                        "may wait as long; if not given, it polls")},
        {OPTION("--keep", FIELD_TEXT, struct run_arguments, keep, .form = "FILE",
                .help = "the scenario in force is saved there after each change; a weir that "
                        "starts after a crash continues with it, unless the scenario file was "
                        "written since")},
        {RECORDING_OPTION_FOLDER(struct run_arguments)},
        {RECORDING_OPTION_SNAP(struct run_arguments)},
        {RECORDING_OPTION_LIMIT(struct run_arguments)},
        {RECORDING_OPTION_ZSTD(struct run_arguments)},
        {RECORDING_OPTION_FLIGHT(struct run_arguments)},
        {RECORDING_OPTION_FLIGHT_ON(struct run_arguments)},
        {RECORDING_OPTION_FLIGHT_TO(struct run_arguments)},
        {RECORDING_OPTION_FLIGHT_HELD(struct run_arguments)},
        {OPTION_LOG_LEVEL(struct run_arguments)},
        {OPTION_QUIET(struct run_arguments, "no table at the end")},
        OPTIONS_END,
};

const struct options run_options = {
        .command = "run",
        .usage = "-c FILE [-s SOCKET] [--cores LIST] [options] [-- EAL ARGS]",
        .does = "Runs a scenario live, between the ports it names, until SIGINT or SIGTERM.",
        .end = "Arguments after -- go to DPDK's environment abstraction layer.\n",
        .rows = rows,
        .until_word = true,
};

int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments)
{
	struct options_words words;
	char why[RECORDING_WHY_BYTES];
	int status;

	memset(arguments, 0, sizeof(*arguments));
	status = options_read(&run_options, argc, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (words.n > 0 && !words.apart)
		return options_wrong(&run_options,
		                     "`%s` is not expected; give a scenario as -c %s, and "
		                     "arguments for DPDK after --",
		                     words.word[0], words.word[0]);
	arguments->eal = words.word;
	arguments->n_eal = words.n;
	if (arguments->readonly_group && !arguments->socket_readonly)
		return options_wrong(&run_options, "--readonly-group needs --socket-readonly PATH");
	if (arguments->sleep_ns > 0 && arguments->layout == LAYOUT_PIPELINE)
		return options_wrong(&run_options,
		                     "--sleep is for --layout run-to-completion; the workers of a "
		                     "pipeline wait for each other, and poll");
	if (recording_arguments_wrong(&arguments->record, why))
		return options_wrong(&run_options, "%s", why);
	if (!arguments->config)
		return options_wrong(&run_options, "no scenario: weir run -c FILE");
	return OPTIONS_RUN;
}
