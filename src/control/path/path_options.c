/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <errno.h>
#include <stdio.h>

#include "language/short_form.h"

int path_take_statements(const struct field *field, char *text, void *arguments,
                         struct language_error *error)
{
	if (short_form_append((char *)arguments + field->offset, text))
		return 0;
	return language_error_set(error, ERROR_TOO_LONG, SHORT_FORM_TOO_LONG);
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
