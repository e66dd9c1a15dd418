/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "language/short_form.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/statement_text.h"

int path_take_statements(const struct field *field, char *text, void *arguments,
                         struct language_error *error)
{
	if (short_form_append((char *)arguments + field->offset, text))
		return 0;
	return language_error_set(error, ERROR_TOO_LONG, SHORT_FORM_TOO_LONG);
}

/* Returns true if an option is a statement with dashes, and writes the statement. */
static bool is_statement(const struct options *options, const char *word, const char *next,
                         char text[FOREIGN_TEXT_BYTES])
{
	const struct foreign_word *row;
	char name[40];
	size_t dashes = strspn(word, "-"), bytes = strcspn(word + dashes, "=");

	if (dashes == 0 || bytes >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)bytes, word + dashes);
	if (word[dashes + bytes] == '=')
		next = word + dashes + bytes + 1;
	/* `--down` and `--up` are options. */
	for (const struct option_row *own = options->rows; own->field.name; own++) {
		if (strcmp(own->field.name + 2, name) == 0)
			return false;
	}
	if (statement_named(name)) {
		snprintf(text, FOREIGN_TEXT_BYTES, "%s %.80s", name, next ? next : "...");
		return true;
	}
	row = foreign_word_find(FOREIGN_STATEMENT, name);
	return row && strncmp(row->write, "cloud ", 6) != 0 && foreign_word_write(row, next, text);
}

bool path_is_statement(const struct options *options, const char *word, const char *next)
{
	char text[FOREIGN_TEXT_BYTES];

	if (!is_statement(options, word, next, text))
		return false;
	options_wrong(options, "no such option %s; statements have no dashes: %s", word, text);
	return true;
}

static int find_ports(const struct path_words *words, const struct scenario *scenario,
                      const char *name, uint32_t ports[PATH_ENDS], char *message, size_t room)
{
	int down = scenario_find_cloud(scenario, "down"), near;

	if (scenario->n_ports != PATH_ENDS || down < 0 || scenario_find_cloud(scenario, "up") < 0) {
		snprintf(message, room,
		         "%s: the scenario must have two ports, with clouds `down` (to %s) and "
		         "`up`; it has %u ports%s",
		         name, words->near, scenario->n_ports,
		         down < 0 ? " and no cloud `down`" : "");
		return -EINVAL;
	}
	near = scenario_find_port(scenario, scenario->clouds[down]->to);
	ports[PATH_NEAR] = (uint32_t)near;
	ports[PATH_FAR] = (uint32_t)!near;
	return 0;
}

int path_scenario_make(const struct path_words *words, struct path_arguments *arguments,
                       struct scenario **scenario, uint32_t ports[PATH_ENDS], char *message,
                       size_t room)
{
	const struct short_form form = {.command = words->command,
	                                .plain = words->plain,
	                                .config = &arguments->config,
	                                .both = arguments->both,
	                                .down = arguments->down,
	                                .up = arguments->up};
	char command[24];
	int rc = short_form_make(&form, scenario, message, room);

	snprintf(command, sizeof(command), "weir %s", words->command);
	if (rc == 0)
		rc = find_ports(words, *scenario, arguments->config ? arguments->config : command,
		                ports, message, room);
	if (rc == 0 && arguments->seed_given) {
		(*scenario)->seed = arguments->seed;
		(*scenario)->seed_given = true;
	}
	if (rc < 0) {
		scenario_free(*scenario);
		*scenario = NULL;
	}
	return rc;
}
