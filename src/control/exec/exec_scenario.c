/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_scenario.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/scenario_file.h"
#include "language/short_form.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/statement_text.h"

static const char between[] = "port A\n"
                              "port B\n"
                              "cloud down from A to B\n"
                              "cloud up from B to A\n";
static const char plain[] = "port world\n"
                            "port command\n"
                            "cloud down from world to command\n"
                            "cloud up from command to world\n";

/* ---- the whole ---- */

static int find_ports(const struct scenario *scenario, const char *name, uint32_t ports[EXEC_ENDS],
                      char *message, size_t room)
{
	int down = scenario_find_cloud(scenario, "down"), near;

	if (scenario->n_ports != EXEC_ENDS || down < 0 || scenario_find_cloud(scenario, "up") < 0) {
		snprintf(message, room,
		         "%s: the scenario must have two ports, with clouds `down` (to the "
		         "command) and `up`; it has %u ports%s",
		         name, scenario->n_ports, down < 0 ? " and no cloud `down`" : "");
		return -EINVAL;
	}
	near = scenario_find_port(scenario, scenario->clouds[down]->to);
	ports[EXEC_NEAR] = (uint32_t)near;
	ports[EXEC_FAR] = (uint32_t)!near;
	return 0;
}

static void hint_at_command(const char *both, char *message, size_t room);

int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[EXEC_ENDS], char *message, size_t room)
{
	const struct short_form form = {.command = "exec",
	                                .plain = arguments->between ? between : plain,
	                                .config = &arguments->config,
	                                .both = arguments->both,
	                                .down = arguments->down,
	                                .up = arguments->up};
	int rc = short_form_make(&form, scenario, message, room);

	if (rc == 0)
		rc = find_ports(*scenario, arguments->config ? arguments->config : "weir exec",
		                ports, message, room);
	if (rc == 0 && arguments->seed_given) {
		(*scenario)->seed = arguments->seed;
		(*scenario)->seed_given = true;
	}
	if (rc < 0 && !arguments->dashes && !arguments->between)
		hint_at_command(arguments->both, message, room);
	if (rc < 0) {
		scenario_free(*scenario);
		*scenario = NULL;
	}
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
	uint32_t ports[EXEC_ENDS];
	char message[SCENARIO_FILE_ERROR];
	bool right = false;

	if (trial)
		trial->dashes = true; /* suppresses the hint */
	if (trial && snprintf(trial->both, sizeof(trial->both), "%s%s%s", before,
	                      *before && *word ? " " : "", word) < (int)sizeof(trial->both))
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

bool exec_scenario_is_command(const char *before, const char *text)
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
