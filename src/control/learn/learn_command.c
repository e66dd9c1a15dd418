/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir learn`: makes a scenario of what was measured. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "learn/learn.h"
#include "python/python.h"

#define TIME_LEAST (2 * SIMTIME_S)
#define TIME_USUAL (20 * SIMTIME_S)
#define TIME_MOST  (300 * SIMTIME_S)
#define MOST_USUAL UINT64_C(100000000)
#define MOST_MOST  UINT64_C(1000000000)
#define MOST_LEAST UINT64_C(100000)

struct learn_arguments {
	const char *sent, *received, *out, *picture, *pairs, *headers, *clocks, *live, *server;
	uint64_t windows_ns, seed, time_ns, most_bps;
	bool json, one_way, trace, stay;
};

static const char *const clocks_words[] = {"guess", "same", "apart", NULL};

static int take_clocks(const struct field *option, char *text, void *arguments,
                       struct language_error *error)
{
	for (size_t i = 0; clocks_words[i]; i++) {
		if (strcmp(text, clocks_words[i]) == 0) {
			((struct learn_arguments *)arguments)->clocks = clocks_words[i];
			return 0;
		}
	}
	return language_error_set(error, ERROR_BAD_VALUE,
	                          "%s `%s` is none of guess, same and apart", option->name, text);
}

static const struct option_row rows[] = {
        {OPTION("--sent", FIELD_TEXT, struct learn_arguments, sent, .form = "PCAP",
                .help = "a capture of one end of the path")},
        {OPTION("--received", FIELD_TEXT, struct learn_arguments, received, .form = "PCAP",
                .help = "a capture of the other end, of the same time")},
        {OPTION("--live", FIELD_TEXT, struct learn_arguments, live, .form = "HOST",
                .help = "probe the path to HOST or HOST:PORT, where weir learn --server runs, and "
                        "learn it")},
        {OPTION("--server", FIELD_TEXT, struct learn_arguments, server, .form = "ADDRESS",
                .help = "be the other end of a --live: serve one client at ADDRESS or "
                        "ADDRESS:PORT of this machine, and end")},
        {OPTION("--trace", FIELD_FLAG, struct learn_arguments, trace,
                .help = "the files are traces of mahimahi, TheaterQ or CellReplay: make a scenario "
                        "that plays them")},
        {.letter = 'o',
         OPTION("--out", FIELD_TEXT, struct learn_arguments, out, .form = "FILE",
                .help = "write the scenario there; standard output, if not given")},
        {OPTION("--one-way", FIELD_FLAG, struct learn_arguments, one_way,
                .help = "learn only the direction from the first capture to the second")},
        {OPTION("--clocks", FIELD_TEXT, struct learn_arguments, clocks, .form = "WORD",
                .help = "same: there is one clock, so no drift is sought; apart: the clocks "
                        "differ, "
                        "so the delays of both directions count as equal; guess, if not given: "
                        "they agree, unless packets would arrive before they are sent"),
         .take = take_clocks},
        {OPTION("--windows", FIELD_TIME, struct learn_arguments, windows_ns,
                .help = "write rate, delay and loss over time, a line for each window, as a trace "
                        "beside the scenario")},
        {OPTION("--picture", FIELD_TEXT, struct learn_arguments, picture, .form = "FILE",
                .help = "draw what was measured and what was learned, as one HTML page")},
        {OPTION("--time", FIELD_TIME, struct learn_arguments, time_ns, .min = TIME_LEAST,
                .max = TIME_MOST, .initial = TIME_USUAL, .help = "how long --live probes")},
        {OPTION("--most", FIELD_RATE, struct learn_arguments, most_bps, .min = MOST_LEAST,
                .max = MOST_MOST, .initial = MOST_USUAL,
                .help = "neither --live nor --server sends faster; the lower one counts")},
        {OPTION("--stay", FIELD_FLAG, struct learn_arguments, stay,
                .help = "--server goes on with the next client")},
        {OPTION("--seed", FIELD_COUNT, struct learn_arguments, seed, .initial = 1,
                .help = "the seed of the proof")},
        {OPTION_JSON(struct learn_arguments, "print estimates and proof for programs")},
        {OPTION("--pairs", FIELD_TEXT, struct learn_arguments, pairs, .form = "FILE",
                .help = "only pair the packets, and write a row of 40 bytes for each")},
        {OPTION("--headers", FIELD_TEXT, struct learn_arguments, headers, .form = "FILE",
                .help = "only read the packets of one capture, and write a row of 64 bytes for "
                        "each")},
        OPTIONS_END,
};

const struct options learn_options = {
        .command = "learn",
        .usage = "--sent PCAP --received PCAP [-o FILE] [options]\n"
                 "FILE [-o FILE] [options]\n"
                 "--live HOST [-o FILE] [options]\n"
                 "--server ADDRESS [--most RATE] [--stay]\n"
                 "--trace FILE... -o FILE",
        .does = "Makes a scenario of a path that was measured, and proves it by a replay.",
        .about = "FILE is a capture of one end, with TCP or QUIC; the output of ping, owping, "
                 "irtt,\niperf3, flent or RIPE Atlas; or a CSV of delays.\n",
        .end = "The exit status is 0: a scenario that the proof accepts; 1: no model fits, or the\n"
               "proof fails; the reason is printed; 2: there is nothing to learn from.\n",
        .rows = rows,
};

/* Says what the command line lacks for two captures. */
static int check_captures(const struct learn_arguments *arguments,
                          const struct options_words *words)
{
	if (!arguments->sent || !arguments->received)
		return options_wrong(&learn_options,
		                     "give the captures of both ends: --sent PCAP --received PCAP");
	if (words->n > 0)
		return options_wrong(&learn_options,
		                     "%s: the captures are named by --sent and --received; a file "
		                     "without an option stands alone",
		                     words->word[0]);
	if (strcmp(arguments->sent, arguments->received) == 0)
		return options_wrong(&learn_options,
		                     "%s is named twice; the captures of both ends are needed",
		                     arguments->sent);
	return OPTIONS_RUN;
}

/* Options of one way to learn, which would do nothing in another one. */
static int check_belongs(const struct learn_arguments *arguments, const struct options_words *words)
{
	const struct {
		const char *option, *to;
		bool fine;
	} belongs[] = {
	        {"--one-way", "--sent and --received", arguments->sent != NULL},
	        {"--pairs", "--sent and --received", arguments->sent != NULL},
	        {"--headers", "one capture", words->n == 1 && !arguments->trace},
	        {"--time", "--live", arguments->live != NULL},
	        {"--most", "--live or --server", arguments->live || arguments->server},
	        {"--stay", "--server", arguments->server != NULL},
	        {"--picture", "packets that were measured",
	         !arguments->trace && !arguments->server},
	        {"--windows", "packets that were measured",
	         !arguments->trace && !arguments->server},
	};

	for (size_t i = 0; i < sizeof(belongs) / sizeof(belongs[0]); i++) {
		if (!belongs[i].fine && options_given(&learn_options, words, belongs[i].option))
			return options_wrong(&learn_options, "%s belongs to %s", belongs[i].option,
			                     belongs[i].to);
	}
	return OPTIONS_RUN;
}

static int check(const struct learn_arguments *arguments, const struct options_words *words)
{
	const bool captures = arguments->sent || arguments->received;
	const int ways = captures + arguments->trace + !!arguments->live + !!arguments->server;

	if (ways > 1)
		return options_wrong(&learn_options, "--sent and --received, --trace, --live and "
		                                     "--server are four ways: choose one");
	if (captures && check_captures(arguments, words) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if (check_belongs(arguments, words) != OPTIONS_RUN)
		return OPTIONS_WRONG;
	if (arguments->trace && words->n == 0)
		return options_wrong(&learn_options, "--trace needs the names of traces");
	if ((arguments->live || arguments->server) && words->n > 0)
		return options_wrong(&learn_options, "%s: nothing is read from a file here",
		                     words->word[0]);
	if (ways == 0 && words->n != 1)
		return options_wrong(&learn_options, "give two captures, --sent PCAP --received "
		                                     "PCAP, or one file of measurements");
	return OPTIONS_RUN;
}

static const struct python_command estimation = {
        .command = "learn",
        .module = "weir.learn.command",
        .needs = "numpy scipy",
        .get = "apt install python3-numpy python3-scipy, or pip install 'weir[learn]'",
        .unable = 2,
};

/* The server only sends, receives and notes. */
static const struct python_command server = {
        .command = "learn",
        .module = "weir.learn.live.server",
        .needs = "",
        .get = "apt install python3",
        .unable = 2,
};

int command_learn(int argc, char **argv)
{
	struct learn_arguments arguments = {.sent = NULL};
	struct problem problem = {.text = ""};
	struct options_words words;
	int status = options_read(&learn_options, argc, argv, &arguments, &words), rc;

	if (status == OPTIONS_RUN)
		status = check(&arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (arguments.pairs)
		rc = learn_pairs(
		        &(struct pairs_plan){.captures = {arguments.sent, arguments.received},
		                             .table = arguments.pairs},
		        &problem);
	else if (arguments.headers)
		rc = learn_heads(
		        &(struct heads_plan){.capture = words.word[0], .table = arguments.headers},
		        &problem);
	else
		return python_become(arguments.server ? &server : &estimation, argc - 1, argv + 1);
	if (rc == 0)
		return 0;
	fprintf(stderr, "weir learn: %s\n", problem.text[0] ? problem.text : "no memory");
	return rc == -EINVAL ? 2 : 1;
}
