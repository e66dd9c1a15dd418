/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir top`: its command line, and what only this program knows. The rest is the package
 * python/src/weir/top: a client of the protocol, which draws with curses.
 *
 * `weir top --answer` answers the package (python/python.h):
 *
 *   {"ask": "files", "line"}  {"files": [NAME, ...]}: those that a line of the language names, and
 *                             that can be read
 */
#include "command.h"
#include "ctl/ctl_link.h"
#include "python/python.h"

static const struct option_row rows[] = {
        {OPTION_SOCKET(union option_value)},
        {.letter = 'i',
         VALUE("--interval", FIELD_TIME, .min = 100 * SIMTIME_MS, .max = 60 * SIMTIME_S,
               .initial = SIMTIME_S, .help = "time between two pictures")},
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

static json_t *answer_files(const json_t *question)
{
	const char *line = json_string_value(json_object_get(question, "line"));

	return json_pack("{s:o}", "files", ctl_link_files(line ? line : ""));
}

static const struct python_ask asks[] = {
        {"files", answer_files},
        {NULL, NULL},
};

const struct python_command top_command = {
        .options = &top_options,
        .module = "weir.top.command",
        .get = "apt install python3 python3-weir",
        .unable = 1,
        .asks = asks,
};
