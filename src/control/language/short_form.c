/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/short_form.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/language.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "language/scenario_name.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/statement_text.h"

#define NETEM "netem"

const char short_form_plain[] = "port a\n"
                                "port b\n"
                                "cloud down from a to b\n"
                                "cloud up from b to a\n";

bool short_form_append(char *text, const char *more)
{
	size_t used = strlen(text), bytes = strlen(more);

	if (used + bytes + 2 > LINE_BYTES_MAX)
		return false;
	if (used > 0)
		text[used++] = ' ';
	memcpy(text + used, more, bytes + 1);
	return true;
}

bool short_form_names_statement(const char *word)
{
	return statement_named(word) || strcmp(word, NETEM) == 0;
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

	if (!words->word[i].quoted && short_form_names_statement(words->word[i].text))
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

/* Writes what the word may have meant: a value with a decimal comma or, if `is_first`, the name of
 * a scenario. Returns false if it is like neither. */
static bool what_it_may_mean(const char *word, bool is_first, char *text, size_t room)
{
	char value[LINE_BYTES_MAX];
	struct nearest nearest;
	char *comma;

	snprintf(value, sizeof(value), "%s", word);
	comma = strchr(value, ',');
	if (comma)
		*comma = '.';
	if (comma && short_form_is_value(value)) {
		snprintf(text, room, "`%s` has a comma; a decimal point is written as in %s", word,
		         value);
		return true;
	}
	nearest_start(&nearest, word);
	for (const struct statement *const *at = statements; *at; at++)
		nearest_try(&nearest, (*at)->name);
	if (is_first)
		scenario_name_nearest(&nearest);
	if (!nearest.best || short_form_names_statement(nearest.best))
		return false;
	snprintf(text, room, "no scenario has this name; did you mean `%s`?", nearest.best);
	return true;
}

/* Reports what is wrong with words[first...], which begin `text`: a value without a unit, a
 * misspelt name of a scenario, or else an error in a statement. */
static int complain_of_words(struct adding *adding, const struct words *words, uint32_t first,
                             const char *text)
{
	uint32_t before = (uint32_t)strlen("cloud  ") + (uint32_t)strlen(adding->cloud), i = first;
	char value[FOREIGN_TEXT_BYTES];
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
	if (what_it_may_mean(words->word[i].text, i == 0 && *adding->option == 0, problem,
	                     sizeof(problem)))
		return complain(adding, text, problem);
	return complain(adding, text, adding->error.text);
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
		if (i < words->n && !short_form_names_statement(words->word[i].text) &&
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

static int add_all(const struct short_form *form, struct scenario *scenario, char *message,
                   size_t room)
{
	const struct {
		const char *text, *cloud, *option;
	} texts[] = {{form->both, "down", ""},
	             {form->both, "up", ""},
	             {form->down, "down", "--down"},
	             {form->up, "up", "--up"}};
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

bool short_form_is_value(const char *text)
{
	const struct word word = {.text = text};
	char value[FOREIGN_TEXT_BYTES];

	return value_statement(&word, value);
}

/* Takes the first word as a scenario, if it is a file or a name of one: `geo-satellite delay 1ms`.
 */
static void take_name(const struct short_form *form)
{
	static char path[SCENARIO_PATH_BYTES];
	size_t bytes = strcspn(form->both, " ");
	char word[PATH_MAX];

	if (*form->config || bytes == 0 || bytes >= sizeof(word))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)bytes, form->both);
	if (short_form_names_statement(word) || short_form_is_value(word))
		return;
	const bool file = strchr(word, '/') || strstr(word, ".weir");

	if (file && (access(word, F_OK) == 0 || !scenario_name_find(word, path, sizeof(path))))
		snprintf(path, sizeof(path), "%s", word);
	else if (!file && !scenario_name_find(word, path, sizeof(path)))
		return;
	*form->config = path;
	bytes += strspn(form->both + bytes, " ");
	memmove(form->both, form->both + bytes, strlen(form->both) - bytes + 1);
}

int short_form_make(const struct short_form *form, struct scenario **scenario, char *message,
                    size_t room)
{
	char name[40];
	struct problem problem;
	int rc;

	*scenario = NULL;
	take_name(form);
	snprintf(name, sizeof(name), "weir %s", form->command);
	rc = *form->config ? scenario_file_load(*form->config, scenario, message, room)
	                   : scenario_text_load(form->plain, strlen(form->plain), name, scenario,
	                                        message, room);
	if (rc == 0)
		rc = add_all(form, *scenario, message, room);
	if (rc == 0 && scenario_check(*scenario, &problem) < 0) {
		snprintf(message, room, "%s", problem.text);
		rc = -EINVAL;
	}
	if (rc < 0) {
		scenario_free(*scenario);
		*scenario = NULL;
	}
	return rc;
}

/* ---- interfaces before the statements ---- */

static bool is_device(const char *word)
{
	char path[SCENARIO_PATH_BYTES];

	if (if_nametoindex(word) != 0)
		return true;
	return !short_form_names_statement(word) && !short_form_is_value(word) &&
	       !strchr(word, '/') && !strstr(word, ".weir") &&
	       !scenario_name_find(word, path, sizeof(path));
}

int short_words_take(struct short_words *words, int n, char *const *word, char *message,
                     size_t room)
{
	char meaning[200];
	int devices = 0;

	words->n = (uint32_t)n;
	while (devices < 2 && devices < n && is_device(word[devices])) {
		words->device[devices] = word[devices];
		devices++;
	}
	if (devices == 1 && what_it_may_mean(word[0], true, meaning, sizeof(meaning))) {
		snprintf(message, room, "%s: %s", word[0], meaning);
		return -EINVAL;
	}
	if (devices == 1) {
		snprintf(message, room,
		         "`%s` is neither a statement nor the name of a scenario; if it is an "
		         "interface, a second one belongs beside it: eth1 eth2 40ms",
		         word[0]);
		return -EINVAL;
	}
	for (int i = devices; i < n; i++) {
		if (!short_form_append(words->both, word[i])) {
			snprintf(message, room, SHORT_FORM_TOO_LONG);
			return -EINVAL;
		}
	}
	return 0;
}

int short_words_make(struct short_words *words, const char *command, const char **config,
                     struct scenario **scenario, char *message, size_t room)
{
	const struct short_form form = {.command = command,
	                                .plain = short_form_plain,
	                                .config = config,
	                                .both = words->both,
	                                .down = "",
	                                .up = ""};
	int rc = short_form_make(&form, scenario, message, room);

	if (rc == 0 && words->device[0] && (*scenario)->n_ports != 2) {
		snprintf(message, room, "%s has %u ports, and two interfaces are given", *config,
		         (*scenario)->n_ports);
		rc = -EINVAL;
	}
	for (uint32_t i = 0; rc == 0 && i < 2 && words->device[i]; i++) {
		char *device = strdup(words->device[i]);

		if (!device) {
			snprintf(message, room, "no memory");
			rc = -ENOMEM;
			break;
		}
		free((*scenario)->ports[i].device);
		(*scenario)->ports[i].device = device;
	}
	if (rc < 0) {
		scenario_free(*scenario);
		*scenario = NULL;
	}
	return rc;
}
