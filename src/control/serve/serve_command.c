/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir serve`: metrics, events and a page over HTTP. */
#include "command.h"
#include "options/options.h"
#include "serve/serve.h"
#include "show/json.h"

static const struct option_row rows[] = {
        {OPTION("--listen", FIELD_TEXT, struct serve_options, listen, .form = "WHERE",
                .help = "an address of this machine and a port, default 127.0.0.1:9470, or "
                        "unix:PATH")},
        {OPTION("--allow-changes", FIELD_FLAG, struct serve_options, allow_changes,
                .help = "holders of the token may change the scenario; without this option nobody "
                        "may")},
        {OPTION("--token-file", FIELD_TEXT, struct serve_options, token_file, .form = "FILE",
                .help = "file with the token, of 16 characters or more; if not given, one is drawn "
                        "and printed")},
        {OPTION("--name", FIELD_TEXT, struct serve_options, name, .form = "NAME",
                .help = "a name by which browsers may reach it, in addition to its address and "
                        "localhost")},
        {OPTION("--clouds", FIELD_COUNT, struct serve_options, clouds, .min = 1,
                .max = TOTALS_CLOUDS_MOST, .initial = TOTALS_CLOUDS,
                .help = "clouds with metrics of their own, the first of the scenario; the others "
                        "are summed")},
        {.letter = 'i',
         OPTION("--interval", FIELD_TIME, struct serve_options, interval_ns,
                .min = 100 * SIMTIME_MS, .max = 60 * SIMTIME_S, .initial = SIMTIME_S,
                .help = "time between samples, while somebody looks at the page")},
        {OPTION_SOCKET(struct serve_options)},
        {OPTION_LOG_LEVEL(struct serve_options)},
        OPTIONS_END,
};

const struct options serve_options = {
        .command = "serve",
        .usage = "[-s SOCKET] [--listen ADDRESS:PORT|unix:PATH] [--allow-changes]",
        .does = "Serves metrics, events and a live page of a running weir, over HTTP.",
        .about = "Runs as a process of its own. Any socket of weir suffices, also the\n"
                 "read-only one; changes need the control socket.\n",
        .end = "Exit status: 0 ended, 1 it cannot serve here, 2 the options are wrong.\n",
        .rows = rows,
};

int command_serve(int argc, char **argv)
{
	struct serve_options arguments = {.listen = NULL};
	struct options_words words;
	int status = options_read(&serve_options, argc, argv, &arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (words.n > 0)
		return options_wrong(&serve_options, "`%s` is not expected; write --listen %s",
		                     words.word[0], words.word[0]);
	if (arguments.listen == NULL)
		arguments.listen = "127.0.0.1:9470";
	if (arguments.token_file != NULL && !arguments.allow_changes)
		return options_wrong(&serve_options, "--token-file needs --allow-changes");
	run_log_begin("serve", arguments.log_level, JOURNAL_SOCKET);
	status = serve_run(&arguments);
	run_log_end();
	return status;
}
