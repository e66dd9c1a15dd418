/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_scenario.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/language.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "text/foreign_word.h"
#include "text/nearest.h"
#include "text/statement_text.h"
#include "statements.h"

#define NETEM "netem"

static const char between[] = "port A\n"
                              "port B\n"
                              "cloud down from A to B\n"
                              "cloud up from B to A\n";
static const char plain[] = "port world\n"
                            "port command\n"
                            "cloud down from world to command\n"
                            "cloud up from command to world\n";

/* ---- scenarios by name ---- */

#define FOLDERS 3

/* Gets the folder of scenarios number `which`: `configs` in the working directory, beside the
 * source of this program, or where they were installed. Returns false if its path cannot be
 * determined. */
static bool folder_of_scenarios(int which, char path[PATH_MAX])
{
	static const char *const behind[] = {"", "../../../configs", "../share/weir/configs"};
	char program[PATH_MAX] = "", *slash;

	if (which == 0) {
		strcpy(path, "configs");
		return true;
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
		return false;
	slash = strrchr(program, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", program, behind[which]) < PATH_MAX;
}

static bool find_named(const char *name, char *path, size_t room)
{
	char folder[PATH_MAX];

	for (int i = 0; word_is_name(name) && i < FOLDERS; i++) {
		if (!folder_of_scenarios(i, folder))
			continue;
		snprintf(path, room, "%s/%s.weir", folder, name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* Tries the names of all scenarios as the nearest one. */
static void find_nearest(struct nearest *nearest)
{
	char folder[PATH_MAX];

	for (int i = 0; i < FOLDERS; i++) {
		DIR *dir = folder_of_scenarios(i, folder) ? opendir(folder) : NULL;

		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			char *end = strstr(entry->d_name, ".weir");

			if (!end)
				continue;
			*end = '\0';
			nearest_try(nearest, entry->d_name);
		}
		if (dir)
			closedir(dir);
	}
}

static bool names_statement(const char *word)
{
	for (const struct statement *const *at = statements; *at; at++) {
		if (strcmp((*at)->name, word) == 0)
			return true;
	}
	return strcmp(word, NETEM) == 0;
}

/* Takes the first word as the name of a scenario, if it is one: `geo-satellite delay 1ms`. */
static void take_name(struct exec_arguments *arguments)
{
	static char path[PATH_MAX + 64];
	size_t bytes = strcspn(arguments->both, " ");
	char name[SCENARIO_NAME_BYTES];

	if (arguments->config || bytes == 0 || bytes >= sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)bytes, arguments->both);
	if (names_statement(name) || !find_named(name, path, sizeof(path)))
		return;
	arguments->config = path;
	bytes += strspn(arguments->both + bytes, " ");
	memmove(arguments->both, arguments->both + bytes, strlen(arguments->both) - bytes + 1);
}

/* ---- statements ---- */

struct adding {
	struct scenario *scenario;
	const char *cloud, *option; /* "": the text is not from an option */
	char *message;
	size_t room;
	struct command command;
	struct language_error error;
};

static int complain(struct adding *adding, const char *text, const char *problem)
{
	snprintf(adding->message, adding->room, "%s%s%s: %s", adding->option,
	         *adding->option ? " " : "", text, problem);
	return -EINVAL;
}

/* Writes the statement that a value with its unit stands for. Returns false if there is none. */
static bool value_statement(const struct word *word, char text[FOREIGN_TEXT_BYTES])
{
	size_t length = strlen(word->text);

	return !word->quoted && isdigit((unsigned char)word->text[0]) &&
	       (word->text[length - 1] == '%' || isalpha((unsigned char)word->text[length - 1])) &&
	       foreign_value_write(word->text, text);
}

/* Writes the statement of words[first...end - 1], with its name. Returns false if it is too
 * long. */
static bool own_text(const struct words *words, uint32_t first, uint32_t end, const char *text,
                     char own[LINE_BYTES_MAX])
{
	size_t from = words->word[first].offset;
	size_t to = end < words->n ? words->word[end].offset : strlen(text);
	char value[FOREIGN_TEXT_BYTES] = "";

	while (to > from && text[to - 1] == ' ')
		to--;
	if (value_statement(&words->word[first], value))
		from += strlen(words->word[first].text);
	return snprintf(own, LINE_BYTES_MAX, "%s%.*s", value, (int)(to - from), text + from) <
	       LINE_BYTES_MAX;
}

/* Returns true if a statement may begin with words[i]: with its name; or with a value, if no
 * statement before has that name. `begins` marks the words with which those begin. */
static bool may_begin(const struct words *words, const bool *begins, uint32_t i)
{
	char value[FOREIGN_TEXT_BYTES], other[FOREIGN_TEXT_BYTES];

	if (!words->word[i].quoted && names_statement(words->word[i].text))
		return true;
	if (!value_statement(&words->word[i], value))
		return false;
	value[strcspn(value, " ")] = '\0';
	for (uint32_t k = 0; k < i; k++) {
		if (!begins[k])
			continue;
		if (!value_statement(&words->word[k], other))
			snprintf(other, sizeof(other), "%s", words->word[k].text);
		other[strcspn(other, " ")] = '\0';
		if (strcmp(value, other) == 0)
			return false;
	}
	return true;
}

/* Returns true if a text is a complete statement. */
static bool is_statement(struct adding *adding, const char *own)
{
	char line[LINE_BYTES_MAX + 1];

	if ((size_t)snprintf(line, sizeof(line), "cloud %s %s", adding->cloud, own) >=
	            sizeof(line) ||
	    language_parse(line, &adding->command, &adding->error) != 0)
		return false;
	language_release(&adding->command);
	return true;
}

/* Adds one statement. Returns 0; 1 if it is not a statement; or -errno with message if it cannot be
 * added. */
static int add_statement(struct adding *adding, const char *own)
{
	char line[LINE_BYTES_MAX + 1];
	int rc;

	if ((size_t)snprintf(line, sizeof(line), "cloud %s %s", adding->cloud, own) >= sizeof(line))
		return complain(adding, own, "it is too long");
	rc = language_parse(line, &adding->command, &adding->error);
	if (rc == -ENOMEM)
		return complain(adding, own, adding->error.text);
	if (rc != 0)
		return 1;
	if (adding->command.kind != COMMAND_STATEMENT && adding->command.kind != COMMAND_NETEM &&
	    !adding->command.off) {
		language_release(&adding->command);
		return complain(adding, own, "it is not a statement; weir help cloud lists them");
	}
	rc = language_edit(adding->scenario, &adding->command, &adding->error);
	language_release(&adding->command);
	return rc == 0 ? 0 : complain(adding, own, adding->error.text);
}

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

/* Reports what is wrong with words[first...], which begin `text`: a value without a unit, a
 * misspelt name of a scenario, or else an error in a statement. */
static int complain_of_words(struct adding *adding, const struct words *words, uint32_t first,
                             const char *text)
{
	uint32_t before = (uint32_t)strlen("cloud  ") + (uint32_t)strlen(adding->cloud), i = first;
	char value[FOREIGN_TEXT_BYTES];
	struct nearest nearest;
	char problem[200];

	if (value_statement(&words->word[first], value))
		before += (uint32_t)(strlen(value) - strlen(words->word[first].text));
	if (first < words->n && words->word[first].text[0] != '\0' &&
	    words->word[first].text[strspn(words->word[first].text, "0123456789.")] == '\0') {
		snprintf(problem, sizeof(problem),
		         "a value needs its unit: `%.20sms` is a delay, `%.20smbit` a rate, "
		         "`%.20s%%` a loss",
		         words->word[first].text, words->word[first].text, words->word[first].text);
		return complain(adding, text, problem);
	}
	while (i < words->n && words->word[i].column - words->word[first].column + 1 + before !=
	                               adding->error.column)
		i++;
	if (i == words->n || strcmp(adding->error.name, ERROR_UNKNOWN_WORD) != 0)
		return complain(adding, text, adding->error.text);
	nearest_start(&nearest, words->word[i].text);
	for (const struct statement *const *at = statements; *at; at++)
		nearest_try(&nearest, (*at)->name);
	if (i == 0 && *adding->option == 0)
		find_nearest(&nearest);
	if (!nearest.best || names_statement(nearest.best))
		return complain(adding, text, adding->error.text);
	snprintf(problem, sizeof(problem), "no scenario has this name; did you mean `%s`?",
	         nearest.best);
	return complain(adding, text, problem);
}

static int add_statements(struct adding *adding, const char *text)
{
	struct words *words = calloc(1, sizeof(*words));
	bool begins[LINE_WORDS_MAX] = {true};
	char own[LINE_BYTES_MAX];
	uint32_t first = 0;
	int rc = 0;

	if (!words)
		return complain(adding, text, "no memory");
	if (words_split(text, words, &adding->error) != 0) {
		free(words);
		return complain(adding, text, adding->error.text);
	}
	for (uint32_t i = 1; rc >= 0 && first < words->n && i <= words->n; i++) {
		bool netem = strcmp(words->word[first].text, NETEM) == 0;

		if (i < words->n && (netem || !may_begin(words, begins, i)))
			continue;
		/* If a value can belong to the statement before it, it does. */
		if (i < words->n && !names_statement(words->word[i].text) &&
		    own_text(words, first, i + 1, text, own) && is_statement(adding, own))
			continue;
		if (!own_text(words, first, i, text, own))
			rc = complain(adding, own, "it is too long");
		else
			rc = add_statement(adding, own);
		if (rc == 0 && i < words->n) {
			first = i;
			begins[i] = true;
		} else if (rc == 0) {
			first = words->n;
		} else if (rc == 1 && i == words->n) {
			rc = complain_of_words(adding, words, first, own);
		}
	}
	free(words);
	return rc < 0 ? rc : 0;
}

static int add_all(const struct exec_arguments *arguments, struct scenario *scenario, char *message,
                   size_t room)
{
	const struct {
		const char *text, *cloud, *option;
	} texts[] = {{arguments->both, "down", ""},
	             {arguments->both, "up", ""},
	             {arguments->down, "down", "--down"},
	             {arguments->up, "up", "--up"}};
	struct adding *adding = calloc(1, sizeof(*adding));
	int rc = 0;

	if (!adding) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	adding->scenario = scenario;
	adding->message = message;
	adding->room = room;
	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++) {
		adding->cloud = texts[i].cloud;
		adding->option = texts[i].option;
		rc = add_statements(adding, texts[i].text);
	}
	free(adding);
	return rc;
}

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
	const char *text = arguments->between ? between : plain;
	struct problem problem;
	int rc;

	*scenario = NULL;
	take_name(arguments);
	rc = arguments->config
	             ? scenario_file_load(arguments->config, scenario, message, room)
	             : scenario_text_load(text, strlen(text), "weir exec", scenario, message, room);
	if (rc == 0)
		rc = find_ports(*scenario, arguments->config ? arguments->config : "weir exec",
		                ports, message, room);
	if (rc == 0)
		rc = add_all(arguments, *scenario, message, room);
	if (rc == 0 && scenario_check(*scenario, &problem) < 0) {
		snprintf(message, room, "%s", problem.text);
		rc = -EINVAL;
	}
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

bool exec_scenario_is_value(const char *text)
{
	const struct word word = {.text = text};
	char value[FOREIGN_TEXT_BYTES];

	return value_statement(&word, value);
}

/* ---- where the command begins ---- */

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

	if (names_statement(text) || exec_scenario_is_value(text) ||
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
		if (*word && !names_statement(word) && is_program(word)) {
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
