/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/language.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "capture/filter.h"
#include "match/selection.h"
#include "language/language_wrong.h"
#include "text/blocking.h"
#include "text/statement_text.h"
#include "text/value.h"
#include "scenario/port_setting.h"
#include "statements.h"

#define SHOWN(text) language_error_shown(text), text

const struct language_form language_forms[] = {
        {COMMAND_SEED, "seed N", "the seed of all random draws, 0 to 2^64-1"},
        {COMMAND_PORT, "port NAME [device TEXT] [SETTING...]",
         "a port, and the DPDK device behind it; without one it is bound on the command line"},
        {COMMAND_PORT, "port NAME interface INTERFACE [SETTING...]",
         "a port, and the interface of this machine behind it, like eth1"},
        {COMMAND_CLOUD, "cloud NAME from PLACE to PORT [SELECTION...]",
         "a cloud: one direction of an emulated network, from a port or from another cloud"},
        {COMMAND_STATEMENT, "cloud CLOUD STATEMENT...",
         "what the cloud does to its packets; replaces an earlier statement of the same name"},
        {COMMAND_STATEMENT, "cloud CLOUD STATEMENT off",
         "removes the statement from the cloud, if it is there"},
        {COMMAND_NETEM, "cloud CLOUD netem LINE...",
         "converts a line of tc-netem(8) to statements, which replace all such statements of the "
         "cloud"},
        {COMMAND_NETEM, "cloud CLOUD netem-exact LINE...",
         "the same with netem's own recurrence for its correlations"},
        {COMMAND_CLOUDS, "clouds NAME from PLACE to PORT per SELECTION...",
         "a template: one cloud for each address, created when its first packet arrives"},
        {COMMAND_STATEMENT, "clouds CLOUD STATEMENT...", "the same for all clouds of a template"},
        {COMMAND_NETEM, "clouds CLOUD netem LINE...", "the same for all clouds of a template"},
        {COMMAND_NETEM, "clouds CLOUD netem-exact LINE...", "likewise"},
        {COMMAND_NO_CLOUD, "no cloud CLOUD", "removes a cloud, or a template and its clouds"},
        {COMMAND_NO_STATEMENT, "no cloud CLOUD class CLASS [STATEMENT]",
         "removes a class of a cloud, or a statement of the class"},
        {COMMAND_NO_STATEMENT, "no cloud CLOUD STATEMENT [NUMBER]",
         "removes a statement of a cloud; of a numbered statement one number, or all"},
        {COMMAND_SHOW_CLOUD, "show cloud [CLOUD]",
         "counters, delays and queue of one cloud or of all; achieved since its last change"},
        {COMMAND_SHOW_CLOUD, "show cloud CLOUD all", "the same, achieved since the start"},
        {COMMAND_SHOW_CLOUD, "show clouds CLOUD [ADDRESS]",
         "the sums over all clouds of a template, or one of them: show clouds down 10.0.3.4"},
        {COMMAND_SHOW_PATH, "show path CLOUD",
         "the routers that the feedback proxy of a cloud has heard of, and what they report"},
        {COMMAND_SHOW_CONFIG, "show config", "the scenario in force, as a file that can be loaded"},
        {COMMAND_SHOW_PORTS, "show ports", "links and counters of the ports"},
        {COMMAND_SHOW_WORKERS, "show workers", "what the worker cores do"},
        {COMMAND_SHOW_TOTALS, "show totals [NUMBER]",
         "all counters and histograms, of at most so many clouds, as JSON for programs"},
        {COMMAND_PROBE, "probe CLOUD [within TIME]",
         "asks the routers behind a feedback proxy now, and prints what they answer within 1s"},
        {COMMAND_PROBE, "probe CLOUD to ADDRESS [within TIME]",
         "the same with packets to an address, if the path depends on it"},
        {COMMAND_CLEAR_COUNTERS, "clear counters", "sets all counters to zero"},
        {COMMAND_HELP, "help [WORDS...]", "explains a command or a statement: help cloud delay"},
        {COMMAND_NOTHING, NULL, NULL},
};

bool language_token(const struct language_form *form, uint32_t index, struct language_token *token)
{
	const char *at = form->usage;
	bool optional = false;
	size_t length;

	for (;; index--) {
		at += strspn(at, " ");
		optional |= *at == '[';
		at += *at == '[';
		length = strcspn(at, " ]");
		if (length == 0)
			return false;
		if (index == 0)
			break;
		at += length + (at[length] == ']');
	}
	token->first_optional = optional && at[-1] == '[';
	token->rest = length > 3 && memcmp(at + length - 3, "...", 3) == 0;
	length -= token->rest ? 3 : 0;
	memcpy(token->text, at, length);
	token->text[length] = 0;
	token->slot = isupper((unsigned char)token->text[0]);
	return true;
}

/* ---- which form is it? ---- */

static bool accepts(const struct language_token *token, const struct word *word)
{
	if (!token->slot)
		return !word->quoted && strcmp(token->text, word->text) == 0;
	if (strcmp(token->text, "STATEMENT") == 0)
		return !word->quoted && statement_is_name(word->text);
	if (strcmp(token->text, "NUMBER") == 0)
		return !word->quoted && strspn(word->text, "0123456789") == strlen(word->text);
	return true;
}

uint32_t language_match(const struct words *words, uint32_t n, uint32_t *rest)
{
	struct language_token token;
	uint32_t alive = 0, rest_at = UINT32_MAX;

	for (uint32_t f = 0; language_forms[f].usage; f++)
		alive |= 1u << f;
	for (uint32_t i = 0; i < n && rest_at == UINT32_MAX; i++) {
		for (uint32_t f = 0; language_forms[f].usage; f++) {
			if (!(alive >> f & 1))
				continue;
			if (!language_token(&language_forms[f], i, &token) ||
			    !accepts(&token, &words->word[i]))
				alive &= ~(1u << f);
			else if (token.rest)
				rest_at = i;
		}
	}
	if (rest != NULL)
		*rest = rest_at;
	return alive;
}

/* Returns true if the form may end before its token `index`. */
static bool may_end(const struct language_form *form, uint32_t index)
{
	struct language_token token;

	return !language_token(form, index, &token) || token.first_optional;
}

static int find_form(const struct words *words, const struct language_form **form,
                     struct language_error *error)
{
	uint32_t n = words->n, rest, alive = language_match(words, n, &rest);

	if (alive == 0) {
		while (language_match(words, n - 1, NULL) == 0)
			n--;
		return language_wrong_word(words, n - 1, error);
	}
	for (uint32_t f = 0; language_forms[f].usage; f++) {
		*form = &language_forms[f];
		if (alive >> f & 1 && (rest != UINT32_MAX || may_end(*form, n)))
			return 0;
	}
	return language_line_too_short(words, error);
}

/* ---- parsing ---- */

static int check_name(const struct word *word, struct language_error *error)
{
	if (word_is_name(word->text))
		return 0;
	error->column = word->column;
	return language_error_set(
	        error, ERROR_BAD_NAME,
	        "`%.*s` cannot be a name; a name is 1 to %d letters, digits, `-`, "
	        "`_` and `.`",
	        SHOWN(word->text), SCENARIO_NAME_BYTES - 1);
}

/* Follows the kernel's dev_valid_name(); an alternative name may be longer. */
static int check_interface(const char *name, struct language_error *error)
{
	size_t bytes = strlen(name);

	if (bytes > 0 && bytes < INTERFACE_NAME_BYTES && !strpbrk(name, "/: \t\n\v\f\r") &&
	    strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		return 0;
	return language_error_set(error, ERROR_BAD_NAME,
	                          "`%.*s` cannot be the name of an interface; a name has 1 to %d "
	                          "letters, without blanks, `/` and `:`",
	                          SHOWN(name), INTERFACE_NAME_BYTES - 1);
}

/* Checks the name of a device. For `interface:NAME`, which is printed as an interface, checks
 * NAME. */
static int check_device(const char *device, struct language_error *error)
{
	if (device[0] == '\0')
		return language_error_set(
		        error, ERROR_BAD_VALUE,
		        "an empty device; write one like net_tap0 or 0000:03:00.0, "
		        "or leave `device` out");
	if (strncmp(device, PORT_INTERFACE, strlen(PORT_INTERFACE)) == 0)
		return check_interface(device + strlen(PORT_INTERFACE), error);
	return 0;
}

static int check_slot(struct command *command, const char *slot, const struct word *word,
                      struct language_error *error)
{
	if (strcmp(slot, "NAME") == 0 || strcmp(slot, "PORT") == 0 || strcmp(slot, "CLOUD") == 0 ||
	    strcmp(slot, "PLACE") == 0 || strcmp(slot, "CLASS") == 0)
		return check_name(word, error);
	error->column = word->column;
	if (strcmp(slot, "INTERFACE") == 0)
		return check_interface(word->text, error);
	if (strcmp(slot, "TEXT") == 0)
		return check_device(word->text, error);
	if (strcmp(slot, "N") == 0)
		return value_parse_count(word->text, 0, UINT64_MAX, "seed", &command->seed, error);
	if (strcmp(slot, "NUMBER") == 0)
		return value_parse_count(word->text, 1, UINT32_MAX, "number", &command->number,
		                         error);
	return 0;
}

static int check_slots(struct command *command, const struct language_form *form,
                       struct language_error *error)
{
	struct language_token token;

	for (uint32_t i = 0; i < command->words.n && language_token(form, i, &token); i++) {
		if (token.rest)
			return 0;
		if (token.slot &&
		    check_slot(command, token.text, &command->words.word[i], error) != 0)
			return -EINVAL;
	}
	return 0;
}

/* Parses what follows `cloud NAME from PLACE to PORT`. It is checked here because its columns are
 * known here. */
static int parse_selection(struct command *command, const struct statement *statement, uint32_t at,
                           struct language_error *error)
{
	struct problem problem = {.field = -1};
	const char *filter = NULL;
	int result = statement_parse_fields(statement, &command->words, at, &command->conf, error);

	if (result != 0)
		return result;
	result = statement->check(command->conf, NULL, &problem);
	if (result == 0)
		filter = selection_filter((const struct selection_conf *)command->conf);
	if (filter != NULL && blocking_begin(error) != 0) {
		conf_free(command->conf);
		command->conf = NULL;
		return -EINVAL;
	}
	if (filter != NULL) {
		result = filter_check(filter, &problem);
		problem.field = selection_match_field(statement);
	}
	if (result == 0)
		return 0;
	error->column = statement_fields_column(statement, &command->words, at, problem.field,
	                                        problem.letter);
	conf_free(command->conf);
	command->conf = NULL;
	return language_error_set(error, ERROR_BAD_VALUE, "%s", problem.text);
}

/* Turns `cloud CLOUD STATEMENT [N] off` into `no cloud CLOUD STATEMENT [N]`, with `off` set: it is
 * no error if the cloud lacks the statement. */
static int take_off(struct command *command, struct language_error *error)
{
	struct word *word = command->words.word, off = word[command->words.n - 1];

	memmove(word + 1, word, (command->words.n - 1) * sizeof(*word));
	word[0] = off;
	word[0].text = "no";
	word[1].text = "cloud";
	command->kind = COMMAND_NO_STATEMENT;
	command->off = true;
	if (command->words.n < 5)
		return 0;
	error->column = word[4].column;
	return value_parse_count(word[4].text, 1, UINT32_MAX, "number", &command->number, error);
}

int language_parse(const char *line, struct command *command, struct language_error *error)
{
	const struct language_form *form = NULL;

	command->kind = COMMAND_NOTHING;
	command->seed = 0;
	command->number = 0;
	command->conf = NULL;
	command->netem = NULL;
	command->off = false;
	error->column = 0;
	if (words_split(line, &command->words, error) != 0)
		return -EINVAL;
	if (command->words.n == 0)
		return 0;
	if (find_form(&command->words, &form, error) != 0 || check_slots(command, form, error) != 0)
		return -EINVAL;
	command->kind = form->kind;
	if (command->kind == COMMAND_STATEMENT && statement_is_off(&command->words, 2))
		return take_off(command, error);
	if (command->kind == COMMAND_NETEM)
		return netem_become(&command->words, 3,
		                    strcmp(command->words.word[2].text, "netem-exact") == 0,
		                    &command->netem, error);
	if (command->kind == COMMAND_STATEMENT)
		return statement_parse(&command->words, 2, &command->conf, error);
	if (command->kind == COMMAND_PORT && command->words.n > LANGUAGE_SETTING_AT)
		return statement_parse_fields(&port_setting_statement, &command->words,
		                              LANGUAGE_SETTING_AT, &command->conf, error);
	if (command->kind == COMMAND_CLOUD && command->words.n > LANGUAGE_SELECTION_AT)
		return parse_selection(command, &selection_statement, LANGUAGE_SELECTION_AT, error);
	if (command->kind == COMMAND_CLOUDS)
		return parse_selection(command, &selection_per_statement, LANGUAGE_SELECTION_AT + 1,
		                       error);
	return 0;
}

void language_release(struct command *command)
{
	conf_free(command->conf);
	command->conf = NULL;
	netem_release(command->netem);
	command->netem = NULL;
}
