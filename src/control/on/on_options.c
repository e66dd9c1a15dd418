/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "language/short_form.h"
#include "link/rate.h"
#include "loss/loss_random.h"

static const struct option_row rows[] = {
        {PATH_OPTION_DOWN("statements for what the interface receives")},
        {PATH_OPTION_UP("statements for what the interface sends")},
        {OPTION_CONFIG(struct path_arguments,
                       "a scenario with two ports; its cloud `down` leads to this machine")},
        {OPTION("--pid", FIELD_COUNT, struct on_arguments, pid, .min = 1, .max = INT32_MAX,
                .help = "the interface is in the network of this process, as of a container; weir "
                        "ends with the process")},
        {OPTION("--netns", FIELD_TEXT, struct on_arguments, netns, .form = "NAME|PATH",
                .help = "the interface is in this network namespace")},
        {OPTION("--for", FIELD_TIME, struct on_arguments, for_ns, .min = 1,
                .help = "gives the interface back after this time")},
        {OPTION("--yes", FIELD_FLAG, struct on_arguments, yes,
                .help = "also if hardly a packet comes through")},
        PATH_OPTIONS("control socket, to change the path meanwhile; if not given, the one where "
                     "weir ctl looks, unless another weir has it"),
        OPTIONS_END,
};

const struct options on_options = {
        .command = "on",
        .usage = "INTERFACE [STATEMENTS] [options]",
        .does = "Lets what an interface of this machine receives and sends cross weir, until "
                "SIGINT or SIGTERM.",
        .about = "\n"
                 "  weir on eth0 40ms 1%\n"
                 "  weir on eth0 --down 'rate 20mbit' --up 'rate 5mbit' 20ms\n"
                 "  weir on eth0 lte-driving --for 10m\n"
                 "  weir on eth0 40ms --pid $(podman inspect -f '{{.State.Pid}}' web)\n"
                 "\n"
                 "The interface keeps its name, addresses, routes, neighbours, firewall and\n"
                 "offloads, and its connections live on. However weir ends, it is given back.\n"
                 "STATEMENTS are those of a cloud, for both directions, or a line of netem; the\n"
                 "name of a scenario of configs/ may precede them. `weir help` explains them.\n"
                 "A value alone is a delay (40ms), a rate (10mbit) or a loss (1%).\n",
        .end = "It needs Linux 6.6, and root or CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW.\n",
        .rows = rows,
};

static const char plain[] = "port world\n"
                            "port host\n"
                            "cloud down from world to host\n"
                            "cloud up from host to world\n";

const struct path_words on_words = {
        .command = "on",
        .plain = plain,
        .near = "this machine",
        .ends = {[PATH_FAR] = "the wire's side of weir", [PATH_NEAR] = "the host's side of weir"}};

/* Fewer than a packet in ten, or a second for a packet. */
#define LOSS_MOST      ((PROBABILITY_ONE / 10 + 1) * 9)
#define RATE_LEAST_BPS 10000

bool on_cuts_off(const struct on_arguments *arguments, const struct scenario *scenario,
                 char *message, size_t room)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct conf *loss = cloud_conf_get(scenario->clouds[i], "loss");
		const struct conf *rate = cloud_conf_get(scenario->clouds[i], "rate");
		bool loses = loss && loss->statement == &loss_random_statement &&
		             ((const struct loss_random_conf *)loss)->probability > LOSS_MOST;
		bool waits = rate && ((const struct rate_conf *)rate)->rate_bps < RATE_LEAST_BPS;

		if (arguments->for_ns > 0 || arguments->yes || (!loses && !waits))
			continue;
		snprintf(message, room,
		         "this %s cuts off everybody who is connected through %s, perhaps you: give "
		         "it an end, as with --for 30s, or say --yes",
		         loses ? "loss" : "rate", arguments->interface);
		return true;
	}
	return false;
}

int on_arguments_parse(int argc, char **argv, struct on_arguments *arguments)
{
	struct options_words words;
	char why[RECORDING_WHY_BYTES];
	int status;

	memset(arguments, 0, sizeof(*arguments));
	for (int i = 1; i < argc; i++) {
		if (path_is_statement(&on_options, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			return OPTIONS_WRONG;
	}
	status = options_read(&on_options, argc, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (words.n == 0)
		return options_wrong(&on_options, "on which interface? weir on eth0 40ms");
	if (recording_arguments_wrong(&arguments->path.record, why))
		return options_wrong(&on_options, "%s", why);
	if (arguments->netns && arguments->pid)
		return options_wrong(&on_options, "--pid and --netns both name a network; give one");
	arguments->path.seed_given = options_given(&on_options, &words, "--seed");
	arguments->interface = words.word[0];
	for (int i = 1; i < words.n; i++) {
		if (!short_form_append(arguments->path.both, words.word[i]))
			return options_wrong(&on_options, SHORT_FORM_TOO_LONG);
	}
	return OPTIONS_RUN;
}
