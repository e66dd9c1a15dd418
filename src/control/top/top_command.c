/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir top`: shows what a weir does, live, in a terminal. */
#include <stdio.h>

#include "command.h"
#include "options/options.h"
#include "top/top.h"

struct top_arguments {
	const char *socket;
	uint64_t interval_ns;
};

static const struct option_row rows[] = {
        {OPTION_SOCKET(struct top_arguments)},
        {.letter = 'i',
         OPTION("--interval", FIELD_TIME, struct top_arguments, interval_ns,
                .min = 100 * SIMTIME_MS, .max = 60 * SIMTIME_S, .initial = SIMTIME_S,
                .help = "time between two pictures")},
        OPTIONS_END,
};

const struct options top_options = {
        .command = "top",
        .usage = "[-s SOCKET] [-i INTERVAL]",
        .does = "Shows a running weir, live: ports, clouds, workers, events.",
        .about = "Needs a terminal of 40 columns or more. The key ? explains the keys.\n",
        .end = "Exit status: 0 ended, 1 it cannot be drawn here, 2 no weir answers.\n",
        .rows = rows,
};

int command_top(int argc, char **argv)
{
	struct top_arguments arguments = {.socket = NULL};
	struct options_words words;
	char interval[32];
	int status = options_read(&top_options, argc, argv, &arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (words.n > 0)
		return options_wrong(&top_options,
		                     "`%s` is not expected; a cloud is chosen in the picture",
		                     words.word[0]);
	snprintf(interval, sizeof(interval), "%lluns", (unsigned long long)arguments.interval_ns);
	return top_run(arguments.socket, interval);
}
