/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/language.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/filter.h"
#include "match/selection.h"
#include "scenario/port_setting.h"
#include "statements.h"
#include "text/file_read.h"
#include "text/foreign_word.h"
#include "text/language_error.h"
#include "text/statement_text.h"
#include "text/value.h"
#include "text/word.h"

/*
 * Explains what is wrong with a line that matches no form, and what would be right.
 */

const struct language_slot language_slots[] = {
        {"PLACE", "the name of a port or of a cloud",
         "  where the packets of a cloud come from: the name of a port, or of a cloud,\n"
         "  whose packets then continue into this one instead of leaving at its port:\n\n"
         "  cloud access from a to b\n"
         "  cloud core from access to b\n"},
        {"PORT", "the name of a port",
         "  the name of a port, where packets come in and leave; `port NAME` defines one\n"},
        {"CLOUD", "the name of a cloud",
         "  the name of a cloud; `cloud NAME from PLACE to PORT` defines one\n"},
        {"NAME", "a new name",
         "  a new name: 1 to 31 letters, digits, `-`, `_` and `.`; ports and clouds share\n"
         "  their names\n"},
        {"INTERFACE", "the name of an interface",
         "  an interface of this machine, as `ip link` shows it: eth1\n"},
        {"STATEMENT", NULL, "  what a cloud does to its packets; help cloud lists them\n"},
        {"CLASS", "the name of a class", "  the name of a class of a cloud; help class\n"},
        {"SETTING", NULL, "  a setting of a port, like rx-latency; help port\n"},
        {"LINE", "a line of tc-netem(8)", "  a line of tc-netem(8); help netem\n"},
        {"ADDRESS", "an address", "  an address, or a flow, for which a template has a cloud\n"},
        {"N", "a number", NULL},
        {"TIME", "a time", NULL},
        {"SELECTION", "`source` PREFIX, `destination` PREFIX or `flow`", NULL},
        {"TEXT", "a text", NULL},
        {"WORDS", "words", NULL},
        {NULL, NULL, NULL},
};

/* Returns true if the name of a statement may stand at `index`. */
static bool expects_statement(uint32_t alive, uint32_t index)
{
	struct language_token token;

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (alive >> f & 1 && language_token(&language_forms[f], index, &token) &&
		    strcmp(token.text, "STATEMENT") == 0)
			return true;
	}
	return false;
}

/* Collects, for an error, what may stand at `index` in one of the forms. */
static void expect(uint32_t alive, uint32_t index, struct nearest *nearest, struct listing *listing)
{
	struct language_token token;

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (!(alive >> f & 1) || !language_token(&language_forms[f], index, &token))
			continue;
		if (!token.slot) {
			nearest_try(nearest, token.text);
			listing_add(listing, token.text);
		}
		for (const struct language_slot *slot = language_slots; slot->name; slot++) {
			if (slot->expected != NULL && strcmp(slot->name, token.text) == 0)
				listing_add_plain(listing, slot->expected);
		}
	}
	for (const struct statement *const *row = statements;
	     *row && expects_statement(alive, index); row++) {
		nearest_try(nearest, (*row)->name);
		listing_add(listing, (*row)->name);
	}
}

/* Sets the error for another tool's word for a statement; behind `no`, only with weir's name. */
static bool foreign_statement(const struct words *words, uint32_t index,
                              const struct foreign_word *row, struct language_error *error)
{
	if (row == NULL || strcmp(words->word[0].text, "no") != 0 || index == 0)
		return foreign_word_refused(row, words->word[index].text,
		                            words_text(words, index + 1),
		                            index == 0 ? "cloud NAME " : "", error);
	language_error_set(error, ERROR_UNKNOWN_WORD, "unknown word `%.*s`; did you mean `%.*s`?",
	                   SHOWN(words->word[index].text), (int)strcspn(row->write, " "),
	                   row->write);
	return true;
}

/* Sets the error for another tool's beginning of a line, of one or two words. */
static bool foreign_line(const struct words *words, uint32_t index, struct language_error *error)
{
	char text[LINE_BYTES_MAX + 2];

	if (index > 1)
		return false;
	snprintf(text, sizeof(text), "%s%s%s", words->word[0].text, index ? " " : "",
	         index ? words->word[1].text : "");
	return foreign_word_refused(foreign_word_find(FOREIGN_LINE, text), words->word[index].text,
	                            NULL, "", error);
}

/* Sets the error for another tool's word; `find` looks for the word itself, or for a similar
 * one. */
static bool foreign(const struct words *words, uint32_t index, uint32_t alive,
                    const struct foreign_word *(*find)(enum foreign_place place, const char *word),
                    struct language_error *error)
{
	if (words->word[index].quoted)
		return false;
	if (find == foreign_word_find && foreign_line(words, index, error))
		return true;
	return (index == 0 || expects_statement(alive, index)) &&
	       foreign_statement(words, index, find(FOREIGN_STATEMENT, words->word[index].text),
	                         error);
}

/* Sets the error for a value in place of a statement, or for a word that belongs to a statement. */
static bool without_statement(const struct words *words, uint32_t index, uint32_t alive,
                              struct language_error *error)
{
	const char *word = words->word[index].text, *before = index == 0 ? "cloud NAME " : "";
	char text[FOREIGN_TEXT_BYTES];
	struct listing owners;

	if (index > 0 && !expects_statement(alive, index))
		return false;
	if (foreign_value_write(word, text)) {
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "`%.*s` needs the statement before it: `%s%s`", SHOWN(word),
		                   before, text);
		return true;
	}
	listing_start(&owners, "and");
	statement_owners(word, &owners);
	if (*listing_end(&owners) == 0)
		return false;
	language_error_set(
	        error, ERROR_UNKNOWN_WORD,
	        "`%.*s` is not a statement but a word of %s, and is written after its name",
	        SHOWN(word), owners.text);
	return true;
}

/* Sets the error for names without the keywords: `port a eth1`, `cloud down a to b`, `cloud down a
 * -> b`. */
static bool without_keywords(const struct words *words, uint32_t index,
                             struct language_error *error)
{
	const struct word *word = words->word;
	const char *first = word[index].text;

	if (index != 2)
		return false;
	if (strcmp(word[0].text, "port") == 0 && words->n == 3) {
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "unknown word `%.*s`; if it is an interface, write: port %.*s "
		                   "interface %.*s",
		                   SHOWN(first), SHOWN(word[1].text), SHOWN(first));
		return true;
	}
	if (strncmp(word[0].text, "cloud", 5) != 0 || words->n != 5 ||
	    (strcmp(word[3].text, "to") != 0 && strcmp(word[3].text, "->") != 0))
		return false;
	language_error_set(error, ERROR_UNKNOWN_WORD,
	                   "unknown word `%.*s`; did you mean: %s %.*s from %.*s to %.*s",
	                   SHOWN(first), word[0].text, SHOWN(word[1].text), SHOWN(first),
	                   SHOWN(word[4].text));
	return true;
}

/* Sets error and column for words[index], the first word that matches no form. Returns -EINVAL. */
static int language_wrong_word(const struct words *words, uint32_t index,
                               struct language_error *error)
{
	const struct word *word = &words->word[index];
	uint32_t alive = language_match(words, index, NULL);
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, word->text);
	listing_start(&listing, "or");
	expect(alive, index, &nearest, &listing);
	error->column = word->column;
	if (*listing_end(&listing) == 0)
		return language_error_set(error, ERROR_EXTRA_WORD,
		                          "`%.*s` is too much; the line ends before it",
		                          SHOWN(word->text));
	if (word->quoted)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "a quoted word is not a keyword; what may stand here is %s", listing.text);
	if (index == 0 && statement_named(word->text))
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` belongs to a cloud; write: cloud NAME %s ...",
		                          word->text, word->text);
	if (foreign(words, index, alive, foreign_word_find, error))
		return -EINVAL;
	if (nearest_suggest(&nearest, error) ||
	    foreign(words, index, alive, foreign_word_nearest, error) ||
	    without_statement(words, index, alive, error) || without_keywords(words, index, error))
		return -EINVAL;
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "unknown word `%.*s`; what may stand here is %s",
	                          SHOWN(word->text), listing.text);
}

const struct language_form language_forms[] = {
        {COMMAND_SEED, "seed N", "the seed of all random draws, 0 to 2^64-1"},
        {COMMAND_PORT, "port NAME [device TEXT] [SETTING...]",
         "a port, and the DPDK device behind it; without one it is bound on the command line"},
        {COMMAND_PORT, "port NAME interface INTERFACE [SETTING...]",
         "a port, and the interface of this machine behind it, like eth1"},
        {COMMAND_PORT, "port NAME inside INTERFACE [SETTING...]",
         "a port, and the host's side of an interface, which keeps its addresses and routes"},
        {COMMAND_PORT, "port NAME outside INTERFACE [SETTING...]",
         "a port, and the wire's side of that interface"},
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
		return !word->quoted && statement_named(word->text);
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
	/* The words match, but the line must continue. */
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, "");
	listing_start(&listing, "or");
	expect(language_match(words, words->n, NULL), words->n, &nearest, &listing);
	return language_error_at(error, words->end_column, ERROR_MISSING_WORD,
	                         "the line ends too early; what must follow is %s",
	                         listing_end(&listing));
}

/* ---- parsing ---- */

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

const char *language_port_interface(const char *device, char word[16])
{
	static const char *const prefixes[] = {PORT_INTERFACE, PORT_INSIDE, PORT_OUTSIDE};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t bytes = strlen(prefixes[i]);

		if (strncmp(device, prefixes[i], bytes) != 0)
			continue;
		snprintf(word, 16, "%.*s", (int)bytes - 1, prefixes[i]);
		return device + bytes;
	}
	return NULL;
}

/* Checks the name of a device. For one that is printed as an interface, checks its name. */
static int check_device(const char *device, struct language_error *error)
{
	char word[16];
	const char *interface = language_port_interface(device, word);

	if (device[0] == '\0')
		return language_error_set(
		        error, ERROR_BAD_VALUE,
		        "an empty device; write one like net_tap0 or 0000:03:00.0, "
		        "or leave `device` out");
	return interface ? check_interface(interface, error) : 0;
}

static int check_slot(struct command *command, const char *slot, const struct word *word,
                      struct language_error *error)
{
	if (strcmp(slot, "NAME") == 0 || strcmp(slot, "PORT") == 0 || strcmp(slot, "CLOUD") == 0 ||
	    strcmp(slot, "PLACE") == 0 || strcmp(slot, "CLASS") == 0) {
		if (word_is_name(word->text))
			return 0;
		return language_error_at(
		        error, word->column, ERROR_BAD_NAME,
		        "`%.*s` cannot be a name; a name is 1 to %d letters, digits, `-`, "
		        "`_` and `.`",
		        SHOWN(word->text), SCENARIO_NAME_BYTES - 1);
	}
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
	conf_free(command->conf);
	command->conf = NULL;
	return language_error_at(
	        error,
	        statement_column(statement, &command->words, at, problem.field, problem.letter),
	        ERROR_BAD_VALUE, "%s", problem.text);
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
	if (command->kind == COMMAND_STATEMENT && statement_is_off(&command->words, 2)) {
		/* `cloud CLOUD STATEMENT [N] off` becomes `no cloud CLOUD STATEMENT [N]`, with
		 * `off` set: it is no error if the cloud lacks the statement. */
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
		return value_parse_count(word[4].text, 1, UINT32_MAX, "number", &command->number,
		                         error);
	}
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
