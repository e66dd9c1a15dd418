/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_options.h"

#include <string.h>

#include "command.h"
#include "language/scenario_file.h"

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
        {OPTION_MEMORY(struct run_arguments, OPTION_MEMORY_LEAST, 0,
                       "for packets in flight; if not given, what the scenario needs")},
        {REST_OPTION_SLEEP(struct run_arguments)},
        {REST_OPTION_PRIORITY(struct run_arguments)},
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
        .usage = "-c FILE [-s SOCKET] [--cores LIST] [options] [-- EAL ARGS]\n"
                 "INTERFACE INTERFACE [NAME] [STATEMENTS] [options] [-- EAL ARGS]",
        .does = "Runs a scenario live, between the ports it names, until SIGINT or SIGTERM.",
        .about = "\n"
                 "  weir run -c lab.weir\n"
                 "  weir run eth1 eth2 40ms 1%\n"
                 "  weir run eth1 eth2 geo-satellite\n"
                 "\n"
                 "With two interfaces, the scenario is the named one, or one with a cloud `down`\n"
                 "from the first to the second, and `up` back. STATEMENTS are those of a cloud,\n"
                 "for both directions.\n",
        .end = "Arguments after -- go to DPDK's environment abstraction layer.\n",
        .rows = rows,
};

int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments)
{
	struct options_words words;
	char why[RECORDING_WHY_BYTES], message[SCENARIO_FILE_ERROR];
	int status, own = 1;

	memset(arguments, 0, sizeof(*arguments));
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	status = options_read(&run_options, own, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (short_words_take(&arguments->words, words.n, words.word, message, sizeof(message)))
		return options_wrong(&run_options, "%s", message);
	arguments->eal = argv + (own < argc ? own + 1 : own);
	arguments->n_eal = own < argc ? argc - own - 1 : 0;
	if (arguments->readonly_group && !arguments->socket_readonly)
		return options_wrong(&run_options, "--readonly-group needs --socket-readonly PATH");
	if (arguments->rest.sleep_ns > 0 && arguments->layout == LAYOUT_PIPELINE)
		return options_wrong(&run_options,
		                     "--sleep is for --layout run-to-completion; the workers of a "
		                     "pipeline wait for each other, and poll");
	if (recording_arguments_wrong(&arguments->record, why))
		return options_wrong(&run_options, "%s", why);
	if (!arguments->config && words.n == 0)
		return options_wrong(&run_options, "no scenario: weir run -c FILE, or weir run "
		                                   "eth1 eth2 40ms");
	if (words.n > 0 && arguments->keep)
		return options_wrong(&run_options, "--keep needs the scenario in a file: -c FILE");
	return OPTIONS_RUN;
}
