/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "language/scenario_name.h"
#include "language/short_form.h"
#include "link/rate.h"
#include "loss/loss_random.h"

#define MATCH "match"

static int take_container(const struct field *field, char *text, void *arguments,
                          struct language_error *error)
{
	struct on_arguments *own = arguments;

	(void)field;
	if (own->n_containers == ON_CONTAINERS_MAX)
		return language_error_set(error, ERROR_FULL, "at most %d containers at once",
		                          ON_CONTAINERS_MAX);
	own->container[own->n_containers++] = text;
	return 0;
}

static const struct option_row rows[] = {
        {PATH_OPTION_DOWN("statements for what the interface receives")},
        {PATH_OPTION_UP("statements for what the interface sends")},
        {OPTION_CONFIG(struct path_arguments,
                       "a scenario with two ports; its cloud `down` leads to this machine")},
        {OPTION("--container", FIELD_TEXT, struct on_arguments, container, .form = "NAME|ID",
                .help = "a running container of Docker, Podman, nerdctl or CRI; several may be "
                        "given; weir ends with it"),
         .take = take_container},
        {OPTION("--between", FIELD_FLAG, struct on_arguments, between,
                .help = "two containers follow: only packets between these")},
        {OPTION("--wait", FIELD_FLAG, struct on_arguments, wait,
                .help = "waits for a container that does not run, and takes it again when it is "
                        "started anew")},
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
        .usage = "INTERFACE [STATEMENTS] [match EXPRESSION] [options]\n"
                 "--container NAME [INTERFACE] [STATEMENTS] [match EXPRESSION] [options]\n"
                 "--between NAME NAME [STATEMENTS] [options]",
        .does = "Lets what an interface of this machine receives and sends cross weir, until "
                "SIGINT or SIGTERM.",
        .about = "\n"
                 "  weir on eth0 40ms 1%\n"
                 "  weir on eth0 --down 'rate 20mbit' --up 'rate 5mbit' 20ms\n"
                 "  weir on eth0 lte-driving --for 10m\n"
                 "  weir on eth0 300ms match 'host 192.0.2.7 and tcp port 443'\n"
                 "  weir on --container web 40ms\n"
                 "  weir on --between web db 40ms\n"
                 "\n"
                 "The interface keeps its name, addresses, routes, neighbours, firewall and\n"
                 "offloads, and its connections live on. However weir ends, it is given back.\n"
                 "STATEMENTS are those of a cloud, for both directions, or a line of netem; the\n"
                 "name of a scenario of configs/ may precede them. `weir help` explains them.\n"
                 "A value alone is a delay (40ms), a rate (10mbit) or a loss (1%).\n"
                 "What does not match EXPRESSION, in tcpdump's words, does not leave the kernel.\n",
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

/* Returns true if the interface is in another network than that of weir. */
static bool is_elsewhere(const struct on_arguments *arguments)
{
	return arguments->netns || arguments->pid > 0 || arguments->n_containers > 0;
}

bool on_cuts_off(const struct on_arguments *arguments, const struct scenario *scenario,
                 char *message, size_t room)
{
	if (arguments->for_ns > 0 || arguments->yes || is_elsewhere(arguments))
		return false;
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct conf *loss = cloud_conf_get(scenario->clouds[i], "loss");
		const struct conf *rate = cloud_conf_get(scenario->clouds[i], "rate");
		bool loses = loss && loss->statement == &loss_random_statement &&
		             ((const struct loss_random_conf *)loss)->probability > LOSS_MOST;
		bool waits = rate && ((const struct rate_conf *)rate)->rate_bps < RATE_LEAST_BPS;

		if (!loses && !waits)
			continue;
		snprintf(
		        message, room,
		        "this %s cuts off everybody who is connected through %s, perhaps you: give "
		        "it an end, as with --for 30s, or say --yes",
		        loses ? "loss" : "rate", arguments->interface);
		return true;
	}
	return false;
}

/* Returns true if a word can only be what is done to packets, and not an interface. */
static bool is_about_packets(const char *word)
{
	char path[PATH_MAX];

	return short_form_is_value(word) || short_form_names_statement(word) ||
	       strcmp(word, MATCH) == 0 || scenario_name_find(word, path, sizeof(path));
}

/* [A B] [INTERFACE] [SCENARIO] [STATEMENTS] [match EXPRESSION] */
static int take_words(struct on_arguments *arguments, const struct options_words *words)
{
	int i = 0;

	if (arguments->between) {
		if (words->n < 2 || arguments->n_containers > 0)
			return options_wrong(
			        &on_options,
			        "--between needs two containers: weir on --between web "
			        "db 40ms");
		arguments->container[0] = words->word[i++];
		arguments->container[1] = words->word[i++];
		arguments->n_containers = 2;
	}
	if (i < words->n && !is_about_packets(words->word[i]))
		arguments->interface = words->word[i++];
	for (; i < words->n; i++) {
		if (strcmp(words->word[i], MATCH) == 0) {
			if (arguments->match || i + 1 == words->n)
				return options_wrong(
				        &on_options,
				        "`match` needs one expression, in quotes: match "
				        "'host 192.0.2.7 and tcp port 443'");
			arguments->match = words->word[++i];
		} else if (!short_form_append(arguments->path.both, words->word[i])) {
			return options_wrong(&on_options, SHORT_FORM_TOO_LONG);
		}
	}
	return OPTIONS_RUN;
}

static int check(const struct on_arguments *arguments)
{
	const struct path_arguments *path = &arguments->path;
	struct problem problem;

	if ((arguments->netns != NULL) + (arguments->pid > 0) + (arguments->n_containers > 0) > 1)
		return options_wrong(&on_options,
		                     "--container, --between, --pid and --netns each name a "
		                     "network; give one");
	if (!arguments->interface && !is_elsewhere(arguments))
		return options_wrong(&on_options, "on which interface? weir on eth0 40ms");
	if (arguments->wait && arguments->n_containers == 0)
		return options_wrong(&on_options, "--wait waits for a --container; there is none");
	if (arguments->n_containers > 1 && !arguments->between &&
	    (path->report || path->log || path->picture || path->pcap || path->explain_json ||
	     path->record.folder))
		return options_wrong(&on_options,
		                     "several containers cannot write one file: run a weir on for "
		                     "each");
	if (arguments->match && filter_check(arguments->match, &problem) < 0)
		return options_wrong(&on_options, "%s", problem.text);
	return OPTIONS_RUN;
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
	if (recording_arguments_wrong(&arguments->path.record, why))
		return options_wrong(&on_options, "%s", why);
	arguments->path.seed_given = options_given(&on_options, &words, "--seed");
	status = take_words(arguments, &words);
	return status == OPTIONS_RUN ? check(arguments) : status;
}
