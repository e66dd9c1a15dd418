/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir lab`: reads the command line, and hands it over to the package weir.lab of Python. */
#include "command.h"
#include "lab/lab.h"
#include "python/python.h"

#define SEEDS     5
#define SEEDS_MAX 10000
#define JOBS_MAX  256

static const struct option_row option_rows[] = {
        {VALUE("--seeds", FIELD_COUNT, .min = 1, .max = SEEDS_MAX, .initial = SEEDS,
               .help = "runs of each point; the results are means over them")},
        {VALUE("--seed", FIELD_COUNT, .max = INT64_MAX, .initial = 1,
               .help = "seed of the first run; later runs count up")},
        {VALUE("--set", FIELD_TEXT, .form = "NAME=VALUE",
               .help = "another value for a parameter; 10..45, 10..45:5 or 10,20,45 sweep over "
                       "several")},
        {VALUE("--case", FIELD_TEXT, .form = "NAME", .help = "only this case")},
        {VALUE("--no-figures", FIELD_FLAG,
               .help = "only the runs that rows need, without the sweep of the figures")},
        {VALUE("--alone", FIELD_FLAG,
               .help = "the cases as they are, without what rows and figures need besides")},
        {VALUE("--jobs", FIELD_COUNT, .min = 1, .max = JOBS_MAX,
               .help = "processes at once; if not given, as many as there are processors")},
        {VALUE("--out", FIELD_TEXT, .form = "DIR",
               .help = "folder for results.csv, results.json and report.html")},
        {VALUE("--continue", FIELD_FLAG,
               .help = "skips the runs that results.json there already has")},
        {VALUE("--trace", FIELD_TEXT, .form = "FILE",
               .help = "queues and windows over time, as CSV (of a single run)")},
        {VALUE("--pcap", FIELD_TEXT, .form = "FILE",
               .help = "packets at the beginning of the first link (of a single run)")},
        {OPTION_JSON(
                union option_value,
                "JSON; a row is {\"id\", \"experiment\", \"seeds\", \"parameters\", \"values\", "
                "\"errors\", \"paper\", \"band\", \"pass\", \"reasons\"}")},
        OPTIONS_END,
};

const struct options lab_options = {
        .command = "lab",
        .usage = "list [-j]\n"
                 "run NAME|ROW|FIGURE|FILE.lab|all [options]\n"
                 "points NAME|ROW|FIGURE|FILE.lab|all [options]\n"
                 "merge DIR... [--out DIR] [-j]",
        .does = "Runs the papers' experiments again through weir's data path, in virtual time.",
        .about = "NAME is one of `weir lab list`, ROW a row of the acceptance table like A1 (what\n"
                 "it needs is run, and no more), FIGURE one of a paper like becn-fig5, FILE.lab\n"
                 "an experiment of your own (docs/lab.md). points lists the runs as JSON, to make\n"
                 "them elsewhere, one by one. merge combines separate runs, each with its own\n"
                 "--out DIR.\n",
        .rows = option_rows,
};

const struct python_command lab_command = {
        .options = &lab_options,
        .module = "weir.lab.command",
        .unable = 1,
        .asks = lab_asks,
};
