/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the ports and files of `weir replay`: that they exist, and do not conflict. */
#include "replay/replay_command.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "language/language.h"
#include "language/short_form.h"
#include "packet/packet.h"

#define FILES_MAX (2 * REPLAY_FILES_MAX + 6)

static int bind_port(const struct scenario *scenario, const char *option, const char *name,
                     uint32_t *port, struct problem *problem)
{
	int index = scenario_find_port(scenario, name);
	const struct word word = {.text = (char *)(uintptr_t)name};
	struct language_error error;

	if (index >= 0) {
		*port = (uint32_t)index;
		return 0;
	}
	language_unknown_port(scenario, &word, &error);
	return problem_set(problem, -1, "%s: %s", option, error.text);
}

static int bind_files(struct replay_arguments *a, const struct scenario *scenario,
                      struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < a->n_in && !error; i++) {
		const struct replay_binding *text = &a->in_text[i];

		a->in[i] = (struct replay_file){.second = REPLAY_NO_PORT, .path = text->path};
		error = bind_port(scenario, "--in", text->first, &a->in[i].port, problem);
		if (!error && text->second)
			error = bind_port(scenario, "--in", text->second, &a->in[i].second,
			                  problem);
	}
	for (uint32_t i = 0; i < a->n_out && !error; i++) {
		const struct replay_binding *text = &a->out_text[i];

		a->out[i] = (struct replay_file){.second = REPLAY_NO_PORT, .path = text->path};
		if (text->second)
			return problem_set(problem, -1, "--out %s,%s: an output is for one port",
			                   text->first, text->second);
		error = bind_port(scenario, "--out", text->first, &a->out[i].port, problem);
	}
	return error;
}

static int check_split(const struct replay_arguments *a, struct problem *problem)
{
	if (!a->split)
		return 0;
	for (uint32_t i = 0; i < a->n_in; i++) {
		if (a->in[i].second != REPLAY_NO_PORT)
			return 0;
	}
	return problem_set(problem, -1,
	                   "--split %s: no capture is for two ports; give one as --in A,B=PCAP",
	                   a->split);
}

static bool same_file(const char *a, const char *b)
{
	struct stat one, two;

	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &one) == 0 && stat(b, &two) == 0 && S_ISREG(one.st_mode) &&
	       one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

static int check_standard_input(const struct replay_arguments *a, struct problem *problem)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_in; i++)
		n += strcmp(a->in[i].path, "-") == 0;
	if (n < 2)
		return 0;
	return problem_set(
	        problem, -1,
	        "standard input is one capture, but --in names it %u times; if it has both "
	        "directions: --in A,B=- --split RULE",
	        n);
}

static int check_files(struct replay_arguments *a, struct problem *problem)
{
	const char *written[FILES_MAX], *read[FILES_MAX];
	const char *other[] = {a->report, a->log, a->picture, a->capture, a->explain_json};
	uint32_t n_written = 0, n_read = 0;

	if (a->config)
		read[n_read++] = a->config;
	for (uint32_t i = 0; i < a->n_in; i++)
		read[n_read++] = a->in[i].path;
	for (uint32_t i = 0; i < a->n_out; i++)
		written[n_written++] = a->out[i].path;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		if (other[i])
			written[n_written++] = other[i];
	}
	if (check_standard_input(a, problem))
		return -EINVAL;
	for (uint32_t i = 0; i < n_written; i++) {
		bool standard = strcmp(written[i], "-") == 0;

		a->stdout_taken |= standard;
		for (uint32_t j = 0; j < n_read && !standard; j++) {
			if (same_file(written[i], read[j]))
				return problem_set(
				        problem, -1,
				        "%s: is read (as %s); an output must be another file",
				        written[i], read[j]);
		}
		for (uint32_t j = 0; j < i; j++) {
			if (same_file(written[i], written[j]) &&
			    strcmp(written[i], "/dev/null") != 0)
				return problem_set(
				        problem, -1,
				        "%s: would be written twice; each output needs a file "
				        "of its own",
				        written[i]);
		}
	}
	return 0;
}

int replay_arguments_bind(struct replay_arguments *arguments, const struct scenario *scenario,
                          struct problem *problem)
{
	int error = bind_files(arguments, scenario, problem);

	if (!error)
		error = check_split(arguments, problem);
	return error ? error : check_files(arguments, problem);
}

#define MEMORY_MIN (UINT64_C(16) << 20)

static int parse_binding(const struct field *option, char *text, struct replay_binding *bindings,
                         uint32_t *n, struct language_error *error)
{
	char *equals = strchr(text, '='), *comma;

	if (*n == REPLAY_FILES_MAX)
		return language_error_set(error, ERROR_FULL, "%s %s: more than %d files",
		                          option->name, text, REPLAY_FILES_MAX);
	if (!equals || equals == text || equals[1] == '\0')
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s %s: expected a port and a file, like %s a=FILE",
		                          option->name, text, option->name);
	*equals = '\0';
	comma = strchr(text, ',');
	if (comma)
		*comma = '\0';
	bindings[(*n)++] = (struct replay_binding){
	        .first = text, .second = comma ? comma + 1 : NULL, .path = equals + 1};
	return 0;
}

static int take_in(const struct field *option, char *text, void *arguments,
                   struct language_error *error)
{
	struct replay_arguments *a = arguments;

	return parse_binding(option, text, a->in_text, &a->n_in, error);
}

static int take_out(const struct field *option, char *text, void *arguments,
                    struct language_error *error)
{
	struct replay_arguments *a = arguments;

	return parse_binding(option, text, a->out_text, &a->n_out, error);
}

static int take_set(const struct field *option, char *text, void *arguments,
                    struct language_error *error)
{
	struct rerun_asked *asked = &((struct replay_arguments *)arguments)->asked;

	if (asked->n_set == RERUN_SETS_MAX)
		return language_error_set(error, ERROR_FULL, "%s: more than %u lines", option->name,
		                          RERUN_SETS_MAX);
	asked->set[asked->n_set++] = text;
	return 0;
}

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct replay_arguments, "the scenario")},
        {OPTION("--in", FIELD_TEXT, struct replay_arguments, in_text, .form = "PORT=PCAP",
                .help = "packets that come in at a port (pcap or pcapng, also compressed; - is "
                        "stdin); "
                        "A,B=PCAP: one capture of both directions, with --split"),
         .take = take_in},
        {OPTION("--out", FIELD_TEXT, struct replay_arguments, out_text, .form = "PORT=PCAP",
                .help = "file for packets that leave at a port (pcap, ns; - is stdout)"),
         .take = take_out},
        {OPTION("--recording", FIELD_TEXT, struct replay_arguments, recording, .form = "DIR",
                .help = "in place of captures: reruns what `weir run --record DIR` has recorded, "
                        "and compares it with the recorded run")},
        {OPTION("--set", FIELD_TEXT, struct replay_arguments, asked.set, .form = "LINE",
                .help = "with --recording: a rerun with this line added to its scenarios"),
         .take = take_set},
        {OPTION("--until", FIELD_TIME, struct replay_arguments, asked.until_ns, .min = 1,
                .help = "with --recording: up to this time after its beginning")},
        {OPTION("--packet", FIELD_COUNT, struct replay_arguments, packet, .min = 1,
                .help = "with --recording: describes the path of the packet with this number, of "
                        "each port")},
        {OPTION("--ideal", FIELD_FLAG, struct replay_arguments, asked.ideal,
                .help = "with --recording: without what weir itself lost")},
        {OPTION("--split", FIELD_TEXT, struct replay_arguments, split, .form = "RULE",
                .help = "which frames of A,B=PCAP come in at A, all others at B: mac=ADDRESS, "
                        "ip=ADDRESS[/LENGTH] or port=NUMBER of the source, or first: the source "
                        "of the first frame")},
        {OPTION("--link-type", FIELD_TEXT, struct replay_arguments, link_type, .form = "TYPE",
                .help = "of captures with several link types, the one that is read, like ethernet; "
                        "packets of others are left out and counted")},
        {OPTION("--seed", FIELD_COUNT, struct replay_arguments, asked.seed,
                .help = "instead of the scenario's; if neither gives one, it is drawn at random "
                        "and printed")},
        {OPTION("--report", FIELD_TEXT, struct replay_arguments, report, .form = "FILE",
                .help = "the counters, as JSON")},
        {OPTION("--log", FIELD_TEXT, struct replay_arguments, log, .form = "FILE",
                .help = "the fate of every packet, as CSV")},
        {OPTION("--capture", FIELD_TEXT, struct replay_arguments, capture, .form = "FILE",
                .help = "every packet at each point of its clouds, and why it was dropped or "
                        "marked, as one pcapng (- is stdout)")},
        {OPTION("--picture", FIELD_TEXT, struct replay_arguments, picture, .form = "FILE",
                .help = "delays, losses and queues over time, as one HTML file")},
        {OPTION("--explain", FIELD_FLAG, struct replay_arguments, explain,
                .help = "where the time of each connection went, in words and bars")},
        {OPTION("--explain-json", FIELD_TEXT, struct replay_arguments, explain_json, .form = "FILE",
                .help = "the same as JSON")},
        {OPTION("--burst", FIELD_COUNT, struct replay_arguments, burst, .min = 1, .max = BURST_MAX,
                .help = "packets handed over at once; the outcome is the same")},
        {OPTION_MEMORY(struct replay_arguments, MEMORY_MIN, REPLAY_MEMORY,
                       "maximum for packets in flight")},
        {OPTION_QUIET(struct replay_arguments, "no table, no progress")},
        OPTIONS_END,
};

const struct options replay_options = {
        .command = "replay",
        .usage = "-c FILE --in PORT=PCAP ... --out PORT=PCAP ... [options]\n"
                 "[NAME] [STATEMENTS] --in a=PCAP --out b=PCAP ... [options]\n"
                 "--recording DIR [options]",
        .does = "Passes captures through a scenario, in virtual time: same seed, same bytes.",
        .about = "\n"
                 "  weir replay -c lab.weir --in a=in.pcap --out b=out.pcap\n"
                 "  weir replay 40ms 1% --in a=in.pcap --out b=out.pcap\n"
                 "  weir replay geo-satellite --in a=in.pcap --report report.json\n"
                 "\n"
                 "Without -c, the scenario has the ports a and b, with cloud `down` from a to b,\n"
                 "and `up` back. STATEMENTS are those of a cloud, for both directions.\n",
        .rows = rows,
};

static int check_recording(const struct replay_arguments *a)
{
	if (a->recording && a->n_in > 0)
		return options_wrong(
		        &replay_options,
		        "--in and --recording: give only one; the packets come from there");
	if (a->recording && (a->split || a->link_type))
		return options_wrong(&replay_options, "%s is for captures",
		                     a->split ? "--split" : "--link-type");
	if (!a->recording && (a->asked.n_set || a->asked.until_ns || a->packet || a->asked.ideal))
		return options_wrong(&replay_options, "%s is for --recording DIR",
		                     a->asked.n_set      ? "--set"
		                     : a->asked.until_ns ? "--until"
		                     : a->packet         ? "--packet"
		                                         : "--ideal");
	return OPTIONS_RUN;
}

static int check_complete(const struct replay_arguments *a)
{
	const int status = check_recording(a);

	if (a->recording || status != OPTIONS_RUN)
		return status;
	if (!a->config && a->statements[0] == '\0' && !a->explain && !a->explain_json)
		return options_wrong(&replay_options,
		                     "no scenario is given; -c FILE names it, or give statements: "
		                     "weir replay 40ms --in ...");
	if (a->n_in == 0)
		return options_wrong(&replay_options,
		                     "no capture is given; --in PORT=PCAP names one");
	if (a->n_out == 0 && !a->report && !a->log && !a->picture && !a->capture && !a->explain &&
	    !a->explain_json)
		return options_wrong(&replay_options,
		                     "no output is requested; give --out PORT=PCAP, --report FILE, "
		                     "--log FILE, --capture FILE, --picture FILE or --explain");
	return OPTIONS_RUN;
}

int replay_arguments_parse(int argc, char **argv, struct replay_arguments *a)
{
	struct options_words words;
	int status = options_read(&replay_options, argc, argv, a, &words);

	if (status != OPTIONS_RUN)
		return status;
	a->asked.config = a->config;
	a->asked.seed_given = options_given(&replay_options, &words, "--seed");
	for (int i = 0; i < words.n; i++) {
		if (a->recording || access(words.word[i], F_OK) == 0)
			return options_wrong(
			        &replay_options,
			        "`%s` is not expected; captures are given as --in PORT=PCAP, a "
			        "scenario as -c FILE",
			        words.word[i]);
		if (!short_form_append(a->statements, words.word[i]))
			return options_wrong(&replay_options, SHORT_FORM_TOO_LONG);
	}
	return check_complete(a);
}
