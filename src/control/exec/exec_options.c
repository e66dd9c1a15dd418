/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/statement_text.h"

/* Returns true if `word`, which follows the statements `before`, is the command: a program, and
 * neither a word of the language nor another word of the last statement. `before` as a whole must
 * be correct; it may be "". */
static bool exec_scenario_is_command(const char *before, const char *word);

static const struct option_row rows[] = {
        {PATH_OPTION_DOWN("statements for packets to the command (with --between: to B)")},
        {PATH_OPTION_UP("statements for packets from the command (with --between: from B)")},
        {OPTION_CONFIG(struct path_arguments,
                       "a scenario with two ports; its cloud `down` leads to the command")},
        {OPTION("--between", FIELD_FLAG, struct exec_arguments, between,
                .help = "two commands, one at each end; they know each other as A and B")},
        PATH_OPTIONS("control socket, to change the path while the command runs; if not given, one "
                     "that weir ctl finds within the command ($WEIR_SOCKET)"),
        OPTIONS_END,
};

const struct options exec_options = {
        .command = "exec",
        .usage = "[STATEMENTS] [options] [[--] COMMAND]\n"
                 "[STATEMENTS] [options] --between 'A: COMMAND' 'B: COMMAND'",
        .does = "Runs a command whose packets cross weir; without a command, a shell.",
        .about = "\n"
                 "  weir exec delay 40ms -- curl https://example.net\n"
                 "  weir 40ms 1% curl https://example.net          the same with loss, in short\n"
                 "  weir exec --down 'rate 10mbit queue 60kB' --up 'rate 2mbit' -- iperf3 -c HOST\n"
                 "  weir exec netem delay 40ms loss 1% -- ping HOST\n"
                 "  weir exec geo-satellite -- firefox\n"
                 "\n"
                 "STATEMENTS are those of a cloud, for both directions, or a line of netem; the\n"
                 "name of a scenario of configs/ may precede them. `weir help` explains them.\n"
                 "A value alone is a delay (40ms), a rate (10mbit) or a loss (1%). If one of\n"
                 "these, --up or --down comes first, `exec` may be left out; so may `--`, if a\n"
                 "program follows the statements.\n",
        .end = "The exit status is the command's (with --between: B's); 125: weir could not\n"
               "start it.\n",
        .rows = rows,
};

/* Parses `A: iperf3 -s`. Returns the command, and sets *end; or returns NULL. */
static char *command_of_end(char *text, int *end)
{
	text += strspn(text, " ");
	if ((text[0] != 'A' && text[0] != 'B') || text[1] != ':' ||
	    text[2 + strspn(text + 2, " ")] == 0)
		return NULL;
	*end = text[0] == 'A' ? PATH_FAR : PATH_NEAR;
	return text + 2;
}

/* Takes the word as the command of an end, if it is one. Returns false if not. */
static bool take_end(char *word, struct exec_arguments *arguments)
{
	int end = 0;
	char *command = command_of_end(word, &end);

	if (!command || arguments->command[end])
		return false;
	arguments->argv[end][0] = (char *)(uintptr_t) "/bin/sh";
	arguments->argv[end][1] = (char *)(uintptr_t) "-c";
	arguments->argv[end][2] = command;
	arguments->command[end] = arguments->argv[end];
	return true;
}

static int choose_command(char **rest, int n_rest, bool dashes, struct exec_arguments *arguments)
{
	static char *shell[2];

	if (arguments->between && dashes)
		return options_wrong(&exec_options,
		                     "--between has its commands already; give none after --");
	if (arguments->between)
		return OPTIONS_RUN;
	if (dashes && n_rest == 0)
		return options_wrong(&exec_options,
		                     "there is no command after --; leave -- out to run a shell");
	if (dashes) {
		arguments->command[PATH_NEAR] = rest;
		return OPTIONS_RUN;
	}
	shell[0] = getenv("SHELL");
	if (!shell[0] || !shell[0][0])
		shell[0] = (char *)(uintptr_t) "/bin/sh";
	arguments->command[PATH_NEAR] = shell;
	arguments->shell = true;
	return OPTIONS_RUN;
}

int exec_arguments_parse(int argc, char **argv, struct exec_arguments *arguments)
{
	struct options_words words;
	char why[RECORDING_WHY_BYTES];
	int own = 1, status, rest;

	memset(arguments, 0, sizeof(*arguments));
	/* Words behind `--` belong to the command; statements may stand between options. */
	while (own < argc && strcmp(argv[own], "--") != 0) {
		if (path_is_statement(&exec_options, argv[own],
		                      own + 1 < argc ? argv[own + 1] : NULL))
			return OPTIONS_WRONG;
		if (argv[own][0] == '-' && argv[own][1]) {
			own += options_words_of(&exec_options, argv[own]);
			continue;
		}
		/* Not for the first word: that may be a misspelt statement. */
		if (own > 1 && exec_scenario_is_command(arguments->path.both, argv[own]))
			break;
		if (!short_form_append(arguments->path.both, argv[own++]))
			return options_wrong(&exec_options, SHORT_FORM_TOO_LONG);
	}
	own = own < argc ? own : argc;
	arguments->path.both[0] = '\0';
	status = options_read(&exec_options, own, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	arguments->dashes = own < argc;
	if (recording_arguments_wrong(&arguments->path.record, why))
		return options_wrong(&exec_options, "%s", why);
	rest = own < argc && strcmp(argv[own], "--") == 0 ? own + 1 : own;
	arguments->path.seed_given = options_given(&exec_options, &words, "--seed");
	for (int i = 0; i < words.n; i++) {
		if (arguments->between && take_end(words.word[i], arguments))
			continue;
		if (!short_form_append(arguments->path.both, words.word[i]))
			return options_wrong(&exec_options, SHORT_FORM_TOO_LONG);
	}
	if (arguments->between && (!arguments->command[PATH_FAR] || !arguments->command[PATH_NEAR]))
		return options_wrong(
		        &exec_options,
		        "--between needs a command for each end, A and B, whatever the "
		        "scenario calls its ports: --between 'A: iperf3 -s -1' "
		        "'B: iperf3 -c A'");
	return choose_command(argv + rest, argc - rest, own < argc, arguments);
}

static const char plain[] = "port world\n"
                            "port command\n"
                            "cloud down from world to command\n"
                            "cloud up from command to world\n";
static const char between[] = "port A\n"
                              "port B\n"
                              "cloud down from A to B\n"
                              "cloud up from B to A\n";

#define WORDS(PLAIN)                                                                               \
	{                                                                                          \
		.command = "exec", .plain = (PLAIN), .near = "the command",                        \
		.ends = {"the far end of the path", "the command's end of the path"},              \
	}

const struct path_words *exec_words(const struct exec_arguments *arguments)
{
	static const struct path_words words[] = {WORDS(plain), WORDS(between)};

	return &words[arguments->between ? 1 : 0];
}

/* ---- the whole ---- */

static void hint_at_command(const char *both, char *message, size_t room);

int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[PATH_ENDS], char *message, size_t room)
{
	int rc = path_scenario_make(exec_words(arguments), &arguments->path, scenario, ports,
	                            message, room);

	if (rc < 0 && !arguments->dashes && !arguments->between)
		hint_at_command(arguments->path.both, message, room);
	return rc;
}

/* ---- where the command begins ---- */

/* Returns true if a program of this name can be started here. */
static bool is_program(const char *name)
{
	const char *path = getenv("PATH");
	char full[PATH_MAX];

	while (path && *path && !strchr(name, '/')) {
		int bytes = (int)strcspn(path, ":");

		snprintf(full, sizeof(full), "%.*s/%s", bytes, path, name);
		if (access(full, X_OK) == 0)
			return true;
		path += bytes + (path[bytes] == ':');
	}
	return strchr(name, '/') && access(name, X_OK) == 0;
}

static bool is_right(const char *before, const char *word)
{
	struct exec_arguments *trial = calloc(1, sizeof(*trial));
	struct scenario *scenario = NULL;
	uint32_t ports[PATH_ENDS];
	char message[SCENARIO_FILE_ERROR];
	bool right = false;

	if (trial)
		trial->dashes = true; /* suppresses the hint */
	if (trial && snprintf(trial->path.both, sizeof(trial->path.both), "%s%s%s", before,
	                      *before && *word ? " " : "", word) < (int)sizeof(trial->path.both))
		right = exec_scenario_make(trial, &scenario, ports, message, sizeof(message)) == 0;
	scenario_free(scenario);
	free(trial);
	return right;
}

/* Returns true if a command may begin with this word, whether or not it is a program. */
static bool ends_statements(const char *before, const char *text)
{
	const struct word word = {.text = text};

	if (short_form_names_statement(text) || short_form_is_value(text) ||
	    foreign_word_find(FOREIGN_STATEMENT, text))
		return false;
	for (const struct statement *const *at = statements; *at; at++) {
		if (statement_keyword((*at)->fields, &word))
			return false;
	}
	return is_right(before, "") && !is_right(before, text);
}

static bool exec_scenario_is_command(const char *before, const char *text)
{
	return is_program(text) && ends_statements(before, text);
}

/* Adds a hint if a command may have been given without `--`, as in `delay 40ms ping -c 3 HOST`:
 * ping is no statement, and 3 no scenario. */
static void hint_at_command(const char *both, char *message, size_t room)
{
	char words[LINE_BYTES_MAX], before[LINE_BYTES_MAX] = "", *rest = words;
	size_t used = strlen(message), at = 0;
	bool guess = !strstr(message, "did you mean");

	snprintf(words, sizeof(words), "%s", both);
	for (char *word; (word = strsep(&rest, " "));) {
		if (*word && !short_form_names_statement(word) && is_program(word)) {
			snprintf(message + used, room - used,
			         "; if `%.60s` is the command, write `--` before it", word);
			return;
		}
		if (guess && at > 0 && ends_statements(before, word)) {
			snprintf(message + used, room - used,
			         "; if `%.60s` is the command, there is no such program here",
			         word);
			return;
		}
		at += (size_t)snprintf(before + at, sizeof(before) - at, "%s%s", at ? " " : "",
		                       word);
	}
}
