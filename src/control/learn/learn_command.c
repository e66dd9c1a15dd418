/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir learn`: makes a scenario of what was measured. */
#include <errno.h>

#include "command.h"
#include "learn/learn.h"
#include "python/python.h"

#define TIME_LEAST (2 * SIMTIME_S)
#define TIME_USUAL (20 * SIMTIME_S)
#define TIME_MOST  (300 * SIMTIME_S)
#define MOST_USUAL UINT64_C(100000000)
#define MOST_MOST  UINT64_C(1000000000)
#define MOST_LEAST UINT64_C(100000)

static const struct option_row rows[] = {
        {VALUE("--sent", FIELD_TEXT, .form = "PCAP", .help = "a capture of one end of the path")},
        {VALUE("--received", FIELD_TEXT, .form = "PCAP",
               .help = "a capture of the other end, of the same time")},
        {VALUE("--live", FIELD_TEXT, .form = "HOST",
               .help = "probe the path to HOST or HOST:PORT, where weir learn --server runs, and "
                       "learn it")},
        {VALUE("--server", FIELD_TEXT, .form = "ADDRESS",
               .help = "be the other end of a --live: serve one client at ADDRESS or "
                       "ADDRESS:PORT of this machine, and end")},
        {VALUE("--trace", FIELD_FLAG,
               .help = "the files are traces of mahimahi, TheaterQ or CellReplay: make a scenario "
                       "that plays them")},
        {.letter = 'o',
         VALUE("--out", FIELD_TEXT, .form = "FILE",
               .help = "write the scenario there; standard output, if not given")},
        {VALUE("--one-way", FIELD_FLAG,
               .help = "learn only the direction from the first capture to the second")},
        {VALUE("--clocks", FIELD_TEXT, .form = "WORD",
               .help = "same: there is one clock, so no drift is sought; apart: the clocks "
                       "differ, "
                       "so the delays of both directions count as equal; guess, if not given: "
                       "they agree, unless packets would arrive before they are sent")},
        {VALUE("--windows", FIELD_TIME,
               .help = "write rate, delay and loss over time, a line for each window, as a trace "
                       "beside the scenario")},
        {VALUE("--picture", FIELD_TEXT, .form = "FILE",
               .help = "draw what was measured and what was learned, as one HTML page")},
        {VALUE("--time", FIELD_TIME, .min = TIME_LEAST, .max = TIME_MOST, .initial = TIME_USUAL,
               .help = "how long --live probes")},
        {VALUE("--most", FIELD_RATE, .min = MOST_LEAST, .max = MOST_MOST, .initial = MOST_USUAL,
               .help = "neither --live nor --server sends faster; the lower one counts")},
        {VALUE("--stay", FIELD_FLAG, .help = "--server goes on with the next client")},
        {VALUE("--seed", FIELD_COUNT, .initial = 1, .help = "the seed of the proof")},
        {OPTION_JSON(union option_value, "print estimates and proof for programs")},
        {VALUE("--pairs", FIELD_TEXT, .form = "FILE",
               .help = "only pair the packets, and write a row of 40 bytes for each")},
        {VALUE("--headers", FIELD_TEXT, .form = "FILE",
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

static json_t *answer(int rc, json_t *facts, const struct problem *problem)
{
	if (rc == 0)
		return facts;
	return json_pack("{s:s,s:b}", "error", problem->text[0] ? problem->text : "no memory",
	                 "wrong", rc == -EINVAL);
}

static json_t *answer_pairs(const json_t *question)
{
	char sent[PATH_MAX], received[PATH_MAX], table[PATH_MAX];
	const struct pairs_plan plan = {
	        .captures = {python_path(question, "sent", sent),
	                     python_path(question, "received", received)},
	        .table = python_path(question, "table", table),
	};
	struct problem problem = {.text = ""};
	json_t *facts = NULL;
	int rc = learn_pairs(&plan, &facts, &problem);

	return answer(rc, facts, &problem);
}

static json_t *answer_headers(const json_t *question)
{
	char capture[PATH_MAX], table[PATH_MAX];
	const struct heads_plan plan = {
	        .capture = python_path(question, "capture", capture),
	        .table = python_path(question, "table", table),
	};
	struct problem problem = {.text = ""};
	json_t *facts = NULL;
	int rc = learn_heads(&plan, &facts, &problem);

	return answer(rc, facts, &problem);
}

static const struct python_ask asks[] = {
        {"pairs", answer_pairs},
        {"headers", answer_headers},
        {NULL, NULL},
};

const struct python_command learn_command = {
        .options = &learn_options,
        .module = "weir.learn.command",
        .get = "apt install python3-numpy python3-scipy, or pip install 'weir[learn]'",
        .unable = 2,
        .others = true,
        .asks = asks,
};
