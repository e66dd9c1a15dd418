/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the commands that edit a scenario. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "language/language.h"
#include "link/class.h"
#include "text/language_error.h"

static int no_memory(struct language_error *error)
{
	return language_error_set(error, ERROR_NO_MEMORY, "no memory for the scenario");
}

static int name_taken(const struct scenario *scenario, const struct word *word, const char *what,
                      int reason, struct language_error *error)
{
	bool port = scenario_find_port(scenario, word->text) >= 0;

	if (reason == -ENOMEM)
		return no_memory(error);
	error->column = word->column;
	if (reason == -EEXIST)
		return language_error_set(
		        error, ERROR_DUPLICATE_NAME,
		        "there is a %s `%s` already; choose another name for this %s",
		        port ? "port" : "cloud", word->text, what);
	return language_error_set(
	        error, ERROR_FULL, "no room for another %s; at most %d are possible", what,
	        strcmp(what, "port") == 0 ? SCENARIO_PORTS_MAX : SCENARIO_CLOUDS_MAX);
}

static int unknown_name(const struct scenario *scenario, bool port, const char *word,
                        struct language_error *error)
{
	const uint32_t n = port ? scenario->n_ports : scenario->n_clouds;
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, word);
	listing_start(&listing, "and");
	for (uint32_t i = 0; i < n; i++) {
		const char *name = port ? scenario->ports[i].name : scenario->clouds[i]->name;

		if (n > 1)
			nearest_try(&nearest, name);
		listing_add(&listing, name);
	}
	return language_error_set(error, port ? ERROR_UNKNOWN_PORT : ERROR_UNKNOWN_CLOUD,
	                          "there is no %s `%.*s`; %s %s%s%s%s", port ? "port" : "cloud",
	                          SHOWN(word), n == 1 ? "the only one is" : "there are",
	                          listing_end(&listing), nearest.best ? "; did you mean `" : "",
	                          nearest.best ? nearest.best : "", nearest.best ? "`?" : "");
}

int language_unknown_port(const struct scenario *scenario, const struct word *name,
                          struct language_error *error)
{
	error->column = name->column;
	if (scenario->n_ports == 0)
		return language_error_set(
		        error, ERROR_UNKNOWN_PORT,
		        "there is no port `%.*s`, nor any other; first write: port %.*s",
		        SHOWN(name->text), SHOWN(name->text));
	return unknown_name(scenario, true, name->text, error);
}

int language_unknown_cloud(const struct scenario *scenario, const struct word *name,
                           struct language_error *error)
{
	error->column = name->column;
	if (scenario->n_clouds == 0)
		return language_error_set(error, ERROR_UNKNOWN_CLOUD,
		                          "there is no cloud `%.*s`, nor any other; first write: "
		                          "cloud NAME from PORT to PORT",
		                          SHOWN(name->text));
	return unknown_name(scenario, false, name->text, error);
}

static int check_port(const struct scenario *scenario, const struct word *word,
                      struct language_error *error)
{
	if (scenario_find_port(scenario, word->text) >= 0)
		return 0;
	return language_unknown_port(scenario, word, error);
}

/* Returns the index of a cloud, or -1 with error. Tries the last cloud first: most lines are about
 * it. */
static int find_cloud(const struct scenario *scenario, const struct word *name,
                      struct language_error *error)
{
	int cloud = (int)scenario->n_clouds - 1;

	if (cloud < 0 || strcmp(scenario->clouds[cloud]->name, name->text) != 0)
		cloud = scenario_find_cloud(scenario, name->text);
	if (cloud < 0)
		language_unknown_cloud(scenario, name, error);
	return cloud;
}

static int edit_port(struct scenario *scenario, const struct command *command,
                     struct language_error *error)
{
	const struct word *word = command->words.word;
	const char *device = command->words.n > 2 ? word[3].text : NULL;
	char interface[sizeof(PORT_INTERFACE) + INTERFACE_NAME_BYTES]; /* the longest prefix */
	int result;

	if (device && strcmp(word[2].text, "device") != 0) {
		snprintf(interface, sizeof(interface), "%s:%s", word[2].text, device);
		device = interface;
	}
	result = scenario_add_port(scenario, word[1].text, device, command->conf);
	return result == 0 ? 0 : name_taken(scenario, &word[1], "port", result, error);
}

/* The cloud that this one comes from may be defined later: scenario_check checks that it exists. */
static int edit_cloud(struct scenario *scenario, const struct command *command,
                      struct language_error *error)
{
	const struct word *word = command->words.word;
	struct conf *selection = command->conf != NULL ? conf_copy(command->conf) : NULL;
	struct cloud_conf *cloud;
	int result;

	if (command->conf != NULL && selection == NULL)
		return no_memory(error);
	result = check_port(scenario, &word[5], error);
	if (result != 0)
		goto err_free;
	result = scenario_add_cloud(scenario, word[1].text, word[3].text, word[5].text);
	if (result != 0) {
		result = name_taken(scenario, &word[1], "cloud", result, error);
		goto err_free;
	}
	cloud = scenario->clouds[scenario->n_clouds - 1];
	cloud->many = command->kind == COMMAND_CLOUDS;
	cloud->selection = selection;
	return 0;
err_free:
	conf_free(selection);
	return result;
}

static int no_class(const struct cloud_conf *cloud, const struct word *cloud_name,
                    const struct word *name, struct language_error *error)
{
	struct listing listing;

	error->column = name->column;
	listing_start(&listing, "and");
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->scoped)
			listing_add(&listing, cloud->confs[i]->scope);
	}
	if (*listing_end(&listing) == 0)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "cloud `%s` has no classes; first write: cloud %s class %s",
		        cloud_name->text, cloud_name->text, name->text);
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "cloud `%s` has no class `%s`; it has %s", cloud_name->text,
	                          name->text, listing.text);
}

/* Sets the number of a class, or of a statement in a class, by which they are ordered. */
static int scope_number(const struct cloud_conf *cloud, struct conf *conf, const struct word *word,
                        struct language_error *error)
{
	uint32_t n = 0;

	conf->number = cloud_class_number(cloud, conf->scope);
	if (conf->number != 0)
		return 0;
	if (!conf->statement->scoped)
		return no_class(cloud, &word[1], &word[3], error);
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		n += cloud->confs[i]->statement->scoped;
	conf->number = cloud_class_free(cloud);
	if (n < CLASSES_MAX)
		return 0;
	return language_error_at(error, word[3].column, ERROR_FULL,
	                         "cloud `%s` has %d classes already, which is the maximum",
	                         word[1].text, CLASSES_MAX);
}

static int edit_statement(struct scenario *scenario, const struct command *command,
                          struct language_error *error)
{
	const struct word *word = command->words.word;
	int cloud = find_cloud(scenario, &word[1], error);
	struct conf *conf;

	if (cloud < 0)
		return -EINVAL;
	if (command->conf->statement->clears != NULL) {
		cloud_conf_remove(scenario->clouds[cloud], command->conf->statement->clears);
		return 0;
	}
	conf = conf_copy(command->conf);
	if (conf == NULL)
		return no_memory(error);
	if (conf->scope[0] && scope_number(scenario->clouds[cloud], conf, word, error) != 0) {
		conf_free(conf);
		return -EINVAL;
	}
	if (cloud_conf_put(scenario->clouds[cloud], conf) == 0)
		return 0;
	conf_free(conf);
	error->column = word[2].column;
	if (command->conf->statement->many_max != 0)
		return language_error_set(
		        error, ERROR_FULL,
		        "cloud `%s` has %u `%s` already, or %d statements, which is the maximum",
		        word[1].text, command->conf->statement->many_max, word[2].text,
		        CLOUD_CONFS_MAX);
	return language_error_set(error, ERROR_FULL,
	                          "cloud `%s` has %d statements already, which is the maximum",
	                          word[1].text, CLOUD_CONFS_MAX);
}

static int edit_netem(struct scenario *scenario, const struct command *command,
                      struct language_error *error)
{
	const struct word *word = command->words.word;
	const struct netem_result *netem = command->netem;
	int index = find_cloud(scenario, &word[1], error);
	struct conf *copies[NETEM_STATEMENTS_MAX] = {NULL};
	struct cloud_conf *cloud;
	uint32_t removed = 0, n;

	if (index < 0)
		return -EINVAL;
	cloud = scenario->clouds[index];
	if (netem->seed_column && scenario->seed_given && scenario->seed != netem->seed) {
		return language_error_at(error, netem->seed_column, ERROR_CONFLICT,
		                         "the scenario has the seed %" PRIu64
		                         " already, which all clouds share; leave this one out",
		                         scenario->seed);
	}
	for (uint32_t i = 0; netem_statements[i]; i++)
		removed += cloud_conf_get(cloud, netem_statements[i]) != NULL;
	error->column = word[2].column;
	if (cloud->n_confs - removed + netem->n > CLOUD_CONFS_MAX)
		return language_error_set(error, ERROR_FULL,
		                          "cloud `%s` has %u other statements already; there is "
		                          "room for %d in all",
		                          word[1].text, cloud->n_confs - removed, CLOUD_CONFS_MAX);
	for (n = 0; n < netem->n; n++) {
		copies[n] = conf_copy(netem->conf[n]);
		if (copies[n] == NULL)
			goto err_free;
	}
	for (uint32_t i = 0; netem_statements[i]; i++)
		cloud_conf_remove(cloud, netem_statements[i]);
	for (uint32_t i = 0; i < n; i++)
		cloud_conf_put(cloud, copies[i]);
	if (netem->seed_column) {
		scenario->seed = netem->seed;
		scenario->seed_given = true;
	}
	return 0;
err_free:
	while (n > 0)
		conf_free(copies[--n]);
	return no_memory(error);
}

/* Sets the error for a number that the statement does not have in this cloud. */
static int no_number(const struct cloud_conf *cloud, const struct word *word,
                     struct language_error *error)
{
	const struct conf *conf = cloud_conf_get(cloud, word[3].text);
	struct listing listing;
	char number[16];

	error->column = word[4].column;
	if (conf->number == 0)
		return language_error_set(error, ERROR_EXTRA_WORD,
		                          "`%s` is too much; `%s` is not numbered", word[4].text,
		                          word[3].text);
	listing_start(&listing, "and");
	for (; conf != NULL; conf = cloud_conf_next(cloud, conf)) {
		snprintf(number, sizeof(number), "%u", conf->number);
		listing_add(&listing, number);
	}
	return language_error_set(error, ERROR_UNKNOWN_WORD, "cloud `%s` has no `%s %s`; it has %s",
	                          word[2].text, word[3].text, word[4].text, listing_end(&listing));
}

/* Executes no cloud CLOUD class [CLASS [STATEMENT]]. */
static int edit_no_class(struct cloud_conf *cloud, const struct word *word, uint32_t n,
                         struct language_error *error)
{
	uint32_t number = n > 4 ? cloud_class_number(cloud, word[4].text) : 0;

	if (n == 4) {
		for (uint32_t i = cloud->n_confs; i-- > 0;) {
			if (i < cloud->n_confs && cloud->confs[i]->scope[0])
				cloud_conf_remove_scope(cloud, cloud->confs[i]->scope);
		}
		return 0;
	}
	if (number == 0)
		return no_class(cloud, &word[2], &word[4], error);
	if (n == 5)
		return cloud_conf_remove_scope(cloud, word[4].text);
	if (cloud_conf_scoped(cloud, word[4].text, word[5].text) != NULL)
		return cloud_conf_remove_number(cloud, word[5].text, number);
	return language_error_at(error, word[5].column, ERROR_UNKNOWN_WORD,
	                         "class `%s` of cloud `%s` has no `%s`", word[4].text, word[2].text,
	                         word[5].text);
}

static bool is_there(const struct cloud_conf *cloud, const char *statement, uint64_t number)
{
	const struct conf *conf = cloud_conf_get(cloud, statement);

	while (conf != NULL && number != 0 && conf->number != number)
		conf = cloud_conf_next(cloud, conf);
	return conf != NULL;
}

static int edit_no_statement(struct scenario *scenario, const struct command *command,
                             struct language_error *error)
{
	const struct word *word = command->words.word;
	uint64_t number = command->number;
	int cloud = find_cloud(scenario, &word[2], error);
	struct cloud_conf *conf;
	struct listing listing;

	if (cloud < 0)
		return -EINVAL;
	conf = scenario->clouds[cloud];
	if (strcmp(word[3].text, class_statement.name) == 0)
		return edit_no_class(conf, word, command->words.n, error);
	if (command->off && !is_there(conf, word[3].text, number))
		return 0;
	if (number != 0 && cloud_conf_get(conf, word[3].text) != NULL)
		return cloud_conf_remove_number(conf, word[3].text, (uint32_t)number) == 0
		               ? 0
		               : no_number(conf, word, error);
	if (cloud_conf_remove(conf, word[3].text) == 0)
		return 0;
	listing_start(&listing, "and");
	for (uint32_t i = 0; i < conf->n_confs; i++) {
		if (conf->confs[i]->number <= 1 || i == 0 ||
		    conf->confs[i]->statement != conf->confs[i - 1]->statement)
			listing_add(&listing, conf->confs[i]->statement->name);
	}
	error->column = word[3].column;
	if (conf->n_confs == 0)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "cloud `%s` has no `%s`, nor any other statement",
		                          word[2].text, word[3].text);
	return language_error_set(error, ERROR_UNKNOWN_WORD, "cloud `%s` has no `%s`; it has %s",
	                          word[2].text, word[3].text, listing_end(&listing));
}

int language_edit(struct scenario *scenario, const struct command *command,
                  struct language_error *error)
{
	const struct word *word = command->words.word;
	int cloud;

	error->column = 0;
	switch (command->kind) {
	case COMMAND_NOTHING:
		return 0;
	case COMMAND_SEED:
		scenario->seed = command->seed;
		scenario->seed_given = true;
		return 0;
	case COMMAND_PORT:
		return edit_port(scenario, command, error);
	case COMMAND_CLOUD:
	case COMMAND_CLOUDS:
		return edit_cloud(scenario, command, error);
	case COMMAND_STATEMENT:
		return edit_statement(scenario, command, error);
	case COMMAND_NETEM:
		return edit_netem(scenario, command, error);
	case COMMAND_NO_CLOUD:
		cloud = find_cloud(scenario, &word[2], error);
		if (cloud < 0)
			return -EINVAL;
		scenario_remove_cloud(scenario, (uint32_t)cloud);
		return 0;
	case COMMAND_NO_STATEMENT:
		return edit_no_statement(scenario, command, error);
	default:
		break;
	}
	return language_error_at(error, word[0].column, ERROR_NOT_HERE,
	                         "`%s` is a command for a running weir; only lines that describe "
	                         "a scenario are allowed here",
	                         word[0].text);
}
