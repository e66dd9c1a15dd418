/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/class.h"
#include "scenario/scenario.h"
#include "scenario/statement.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/foreign_word.h"
#include "text/language_error.h"
#include "text/orders_text.h"
#include "text/quantity.h"
#include "text/statement_text.h"
#include "text/value.h"
#include "text/word.h"

static bool is_given(const struct conf *conf, const struct field *field)
{
	return conf->given >> (field - conf->statement->fields) & 1;
}

/* Finds the keyword of the table that is nearest to the word. */
static void statement_nearest_keyword(const struct field *fields, const char *word,
                                      struct nearest *nearest)
{
	nearest_start(nearest, word);
	for (const struct field *field = fields; field->name; field++) {
		if (statement_is_keyword(field))
			nearest_try(nearest, field->name);
	}
}

/* Lists the keywords that a value, found in place of a keyword, could belong to. */
static void value_owners(const struct conf *conf, const char *word, struct listing *listing)
{
	struct language_error ignored;

	for (const struct field *field = conf->statement->fields; field->name; field++) {
		struct conf *made;

		if (!statement_is_keyword(field) || is_given(conf, field) ||
		    field->type > FIELD_PROBABILITY)
			continue;
		made = conf_make(conf->statement);
		if (made != NULL && value_parse(field, word, made, &ignored) == 0)
			listing_add(listing, field->name);
		conf_free(made);
	}
}

/* Sets error and column for words[at], which is no keyword of the statement; conf->given has the
 * fields up to there. Returns -EINVAL. */
static int statement_wrong_word(const struct conf *conf, const struct words *words, uint32_t at,
                                struct language_error *error)
{
	const struct word *word = &words->word[at];
	const char *statement = conf->statement->name;
	const char *next = words_text(words, at + 1);
	struct nearest nearest;
	struct listing listing;

	error->column = word->column;
	if (!word->quoted && strcmp(word->text, STATEMENT_OFF) == 0)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`off` stands alone after a statement: `%s off`",
		                          statement);
	if (!word->quoted && foreign_word_refused(foreign_word_find(FOREIGN_STATEMENT, word->text),
	                                          word->text, next, "", error))
		return -EINVAL;
	statement_nearest_keyword(conf->statement->fields, word->text, &nearest);
	if (!word->quoted && nearest_suggest(&nearest, error))
		return -EINVAL;
	if (statement_named(word->text))
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` is a statement of its own, not a word of `%s`; "
		                          "give it a line of its own: cloud NAME %s ...",
		                          word->text, statement, word->text);
	nearest_start(&nearest, word->text);
	for (const struct statement *const *row = statements; *row; row++)
		nearest_try(&nearest, (*row)->name);
	if (nearest.best != NULL && !word->quoted)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "unknown word `%.*s`; did you mean `%s`, a statement of "
		                          "its own?",
		                          SHOWN(word->text), nearest.best);
	if (!word->quoted &&
	    foreign_word_refused(foreign_word_nearest(FOREIGN_STATEMENT, word->text), word->text,
	                         next, "", error))
		return -EINVAL;
	listing_start(&listing, "or");
	value_owners(conf, word->text, &listing);
	if (!word->quoted && *listing_end(&listing) != 0)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "`%.*s` needs the word before it that says what it is: %s",
		        SHOWN(word->text), listing.text);
	listing_start(&listing, "or");
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		if (statement_is_keyword(field) && !is_given(conf, field))
			listing_add(&listing, field->name);
	}
	if (*listing_end(&listing) == 0)
		return language_error_set(error, ERROR_EXTRA_WORD,
		                          "`%.*s` is too much; `%s` ends before it",
		                          SHOWN(word->text), statement);
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "unknown word `%.*s`; what may follow here is %s",
	                          SHOWN(word->text), listing.text);
}

/* Finds the statement of `loss 1%`, whose variant is left out. Refuses a number without `%`: sets
 * the error, with the possible readings, leaves `statement` alone, and returns true. Returns false
 * if the word is no number, or the statement needs its variant. */
static bool find_by_percent(const char *name, const struct word *word,
                            const struct statement **statement, struct language_error *error)
{
	const struct statement *row = statement_of_words(name, word->text);
	char fraction[PROBABILITY_TEXT_BYTES];
	probability_q63 value;
	size_t digits = strspn(word->text, "0123456789.");

	if (row == NULL || digits == 0)
		return false;
	if (strcmp(word->text + digits, "%") == 0) {
		*statement = row;
		return true;
	}
	if (word->text[digits] != 0)
		return false;
	error->column = word->column;
	if (probability_parse(word->text, &value) != PROBABILITY_OK)
		language_error_set(error, ERROR_BAD_VALUE,
		                   "`%s %.*s` is not a probability; write it in percent, from 0%% "
		                   "to 100%%: %s 1%%",
		                   name, SHOWN(word->text), name);
	else if (value == 0)
		language_error_set(error, ERROR_BAD_VALUE, "`%s` is written in percent: %s 0%%",
		                   name, name);
	else {
		probability_print(value, fraction);
		language_error_set(error, ERROR_BAD_VALUE,
		                   "`%s %.*s` has two readings: as a fraction it is %s, in netem "
		                   "%.*s%%; write %s %s or %s %.*s%%",
		                   name, SHOWN(word->text), fraction, SHOWN(word->text), name,
		                   fraction, name, SHOWN(word->text));
	}
	return true;
}

/* Refuses words[at], which is `word`, if it is another tool's variant, such as `loss gemodel`. */
static bool refuse_foreign(const char *name, const struct word *word, const struct words *words,
                           uint32_t at, struct language_error *error)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_STATEMENT, word->text);
	size_t bytes = strlen(name);

	error->column = word->column;
	return row != NULL && strncmp(row->write, name, bytes) == 0 && row->write[bytes] == ' ' &&
	       foreign_word_refused(row, word->text, words_text(words, at + 1), "", error);
}

/* Returns the row of the table of statements for the beginning of a statement: its name, which is
 * words[*at], and its variant. Moves `at` to the fields. Returns NULL with error and column if
 * there is no such row. If a variant is `by_percent`, it may be left out before a percentage, as in
 * `loss 1%`, but not before another number: `loss 0.1` means 10 % as a fraction, and 0.1 % in
 * netem. */
static const struct statement *statement_row(const struct words *words, uint32_t *at,
                                             struct language_error *error)
{
	const char *name = words->word[*at].text;
	const struct word *word = *at + 1 < words->n ? &words->word[*at + 1] : NULL;
	const struct statement *statement = NULL;
	struct nearest nearest;
	struct listing listing;

	if (word != NULL && !word->quoted)
		statement = statement_find(name, word->text);
	*at += statement == NULL ? 1 : 2;
	if (statement == NULL)
		statement = statement_find(name, NULL);
	if (statement != NULL)
		return statement;
	if (word != NULL && !word->quoted && find_by_percent(name, word, &statement, error))
		return statement;
	if (word != NULL && !word->quoted && refuse_foreign(name, word, words, *at, error))
		return NULL;
	nearest_start(&nearest, word == NULL ? "" : word->text);
	listing_start(&listing, "or");
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) != 0)
			continue;
		nearest_try(&nearest, (*row)->variant);
		listing_add(&listing, (*row)->variant);
	}
	error->column = word == NULL ? words->end_column : word->column;
	listing_end(&listing);
	if (word == NULL)
		language_error_set(error, ERROR_MISSING_WORD, "`%s` needs a variant: %s", name,
		                   listing.text);
	else if (!nearest_suggest(&nearest, error))
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "unknown word `%.*s`; what follows `%s` is %s",
		                   SHOWN(word->text), name, listing.text);
	return NULL;
}

struct parser {
	const struct words *words;
	uint32_t at; /* the next word */
	struct conf *conf;
	const struct field *fields;
	uint32_t *columns; /* of each field, or NULL */
	struct language_error *error;
};

/* Returns the field for what follows the keywords, statements inside the statement; or NULL. */
static const struct field *inner_field(const struct parser *p)
{
	const struct field *field = p->fields;

	while (field->name && !statement_is_inner(field))
		field++;
	return field->name ? field : NULL;
}

static void give(struct parser *p, const struct field *field, uint32_t column)
{
	p->conf->given |= UINT64_C(1) << (field - p->fields);
	if (p->columns != NULL)
		p->columns[field - p->fields] = column;
}

/* Reports that a field is missing, or only its value, if its keyword is there. */
static int missing(struct parser *p, const struct field *field, bool value_only, uint32_t column)
{
	const struct value_units units = value_units(field);
	const char *whose = value_only ? field->name : p->conf->statement->name;
	struct printed kind;

	value_print_kind(printed_begin(&kind), field);
	if (printed_end(&kind) == NULL)
		return language_error_set(p->error, ERROR_NO_MEMORY, "no memory for a message");
	p->error->column = column;
	language_error_set(p->error, ERROR_MISSING_WORD, "`%s` needs %s%s%s %s%s%s%s", whose,
	                   value_only ? "a value" : "`", value_only ? "" : field->name,
	                   value_only ? ":" : "`:", kind.bytes, units.written[0] ? " (" : "",
	                   units.written, units.written[0] ? ")" : "");
	free(kind.bytes);
	return -EINVAL;
}

/* Takes the rest of the line as one text, with each word printed such that it can be parsed
 * again. */
static int parse_rest(struct parser *p, const struct field *field)
{
	uint32_t column = p->words->word[p->at].column;
	char **member = (char **)((char *)p->conf + field->offset);
	struct printed text;
	FILE *out = printed_begin(&text);

	for (uint32_t first = p->at; p->at < p->words->n; p->at++) {
		const struct word *word = &p->words->word[p->at];

		if (p->at > first)
			fputc(' ', out);
		/* Behind a keyword, the whole text may be one quoted word. */
		if (statement_is_keyword(field) && p->at == first && first + 1 == p->words->n)
			fputs(word->text, out);
		else
			word_print(out, word->text, word->quoted);
	}
	if (printed_end(&text) == NULL)
		return language_error_set(p->error, ERROR_NO_MEMORY, "no memory for a text");
	free(*member);
	*member = text.bytes;
	give(p, field, column);
	return 0;
}

/* Parses the value at p->at, of one word or more, and moves p->at behind it. */
static int parse_value(struct parser *p, const struct field *field)
{
	uint32_t first = p->at, n = statement_value_words(p->words, first, p->words->n, field);
	const struct word *word = &p->words->word[first];
	char text[LINE_BYTES_MAX + LINE_WORDS_MAX], *end = text;

	p->at += n;
	if (n == 1)
		return value_parse(field, word->text, p->conf, p->error);
	for (uint32_t i = 0; i < n; i++)
		end = stpcpy(end, word[i].text);
	return value_parse(field, text, p->conf, p->error);
}

/* Parses the number of a numbered statement, if there is one. */
static int parse_number(struct parser *p)
{
	const struct statement *statement = p->conf->statement;
	const struct word *word = &p->words->word[p->at];
	uint64_t number;

	if (statement->number_max == 0 || p->at == p->words->n || word->quoted ||
	    word->text[0] < '0' || word->text[0] > '9')
		return 0;
	p->error->column = word->column;
	if (value_parse_count(word->text, 1, statement->number_max, "number", &number, p->error))
		return -EINVAL;
	p->conf->number = (uint32_t)number;
	p->at++;
	return 0;
}

/* Parses statements inside the statement, to the end of the line. */
static int parse_inner(struct parser *p, const struct field *field)
{
	uint32_t column = p->words->word[p->at].column;
	void *at = (char *)p->conf + field->offset;
	int result = field->type == FIELD_ORDERS ? orders_parse(p->words, p->at, at, p->error)
	                                         : states_parse(p->words, p->at, at, p->error);

	if (result != 0)
		return result;
	p->at = p->words->n;
	give(p, field, column);
	return 0;
}

static int parse_positionals(struct parser *p)
{
	struct nearest nearest;

	for (const struct field *field = p->fields; field->name; field++) {
		const struct word *word = &p->words->word[p->at];

		if (statement_is_keyword(field) || statement_is_inner(field))
			continue;
		if (p->at == p->words->n || statement_keyword(p->fields, word) != NULL) {
			if (!(field->flags & FIELD_REQUIRED))
				return 0;
			return missing(p, field, false, words_column(p->words, p->at));
		}
		if (field->flags & FIELD_REST)
			return parse_rest(p, field);
		if (parse_value(p, field) != 0) {
			p->error->column = word->column;
			/* If the value is optional, the word may be a misspelt keyword. */
			p->at = (uint32_t)(word - p->words->word);
			statement_nearest_keyword(p->fields, word->text, &nearest);
			if (!(field->flags & FIELD_REQUIRED) && !word->quoted &&
			    nearest.best != NULL)
				return statement_wrong_word(p->conf, p->words, p->at, p->error);
			return -EINVAL;
		}
		give(p, field, word->column);
	}
	return 0;
}

/* Returns true if the word, where inner statements may begin, is rather a misspelt keyword. */
static bool looks_like_keyword(const struct parser *p)
{
	const struct word *word = &p->words->word[p->at];
	struct nearest nearest;

	statement_nearest_keyword(p->fields, word->text, &nearest);
	return nearest.best != NULL && !word->quoted && inner_field(p)->type == FIELD_ORDERS &&
	       strcmp(word->text, "no") != 0 && !statement_named(word->text);
}

static int parse_keywords(struct parser *p)
{
	while (p->at < p->words->n) {
		const struct word *word = &p->words->word[p->at];
		const struct field *field = statement_keyword(p->fields, word);

		if (field == NULL && inner_field(p) != NULL && !looks_like_keyword(p)) {
			if (parse_inner(p, inner_field(p)) != 0)
				return -EINVAL;
			break;
		}
		if (field == NULL)
			return statement_wrong_word(p->conf, p->words, p->at, p->error);
		if (is_given(p->conf, field))
			return language_error_at(p->error, word->column, ERROR_DUPLICATE_WORD,
			                         "`%s` was given already; give it once",
			                         field->name);
		p->at++;
		if (field->type == FIELD_FLAG) {
			*((bool *)((char *)p->conf + field->offset)) = true;
			give(p, field, word->column);
			continue;
		}
		if (p->at == p->words->n)
			return missing(p, field, true, p->words->end_column);
		word = &p->words->word[p->at];
		if (field->flags & FIELD_REST) {
			if (parse_rest(p, field) != 0)
				return -ENOMEM;
			continue;
		}
		if (parse_value(p, field) != 0) {
			p->error->column = word->column;
			return -EINVAL;
		}
		give(p, field, word->column);
		/* A value that is also the name of a field is the keyword of that field as well:
		 * `distribution table FILE`. */
		if (field->type == FIELD_WORD && statement_keyword(p->fields, word) != NULL)
			p->at--;
	}
	/* Checks that all required fields are given. */
	for (const struct field *field = p->fields; field->name; field++) {
		if (field->flags & FIELD_REQUIRED && !is_given(p->conf, field))
			return missing(p, field, false, p->words->end_column);
	}
	return 0;
}

static int parse_fields(const struct statement *statement, const struct words *words, uint32_t at,
                        struct conf **conf, uint32_t *columns, struct language_error *error)
{
	struct parser p = {.words = words,
	                   .at = at,
	                   .fields = statement->fields,
	                   .columns = columns,
	                   .error = error};
	int result;

	p.conf = conf_make(statement);
	if (p.conf == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	result = parse_number(&p);
	if (result == 0)
		result = parse_positionals(&p);
	if (result == 0)
		result = parse_keywords(&p);
	if (result != 0) {
		conf_free(p.conf);
		return result;
	}
	*conf = p.conf;
	return 0;
}

/* Checks the name of the class behind `class`. */
static int check_scope(const struct words *words, uint32_t at, struct language_error *error)
{
	const struct word *word = &words->word[at];

	error->column = at < words->n ? word->column : words->end_column;
	if (at == words->n)
		return language_error_set(error, ERROR_MISSING_WORD,
		                          "`class` needs a name, like `class voice`");
	if (word_is_name(word->text) && !word->quoted)
		return 0;
	return language_error_set(error, ERROR_BAD_NAME,
	                          "`%.*s` cannot be a name; a name is 1 to %d letters, digits, "
	                          "`-`, `_` and `.`",
	                          SHOWN(word->text), SCENARIO_NAME_BYTES - 1);
}

static int parse(const struct words *words, uint32_t at, struct conf **conf, uint32_t *columns,
                 struct language_error *error)
{
	const struct statement *statement, *managing;
	const char *scope = "";
	int result;

	/* `class NAME fields`, or `class NAME red fields` */
	if (strcmp(words->word[at].text, class_statement.name) == 0) {
		if (check_scope(words, at + 1, error) != 0)
			return -EINVAL;
		scope = words->word[at + 1].text;
		statement = &class_statement;
		at += 2;
		managing = at < words->n && !words->word[at].quoted
		                   ? statement_named(words->word[at].text)
		                   : NULL;
		if (managing != NULL &&
		    (managing->role == ROLE_AQM || managing->role == ROLE_AQM_MODIFIER))
			statement = statement_row(words, &at, error);
	} else {
		statement = statement_row(words, &at, error);
	}
	if (statement == NULL)
		return -EINVAL;
	result = parse_fields(statement, words, at, conf, columns, error);
	if (result == 0)
		strcpy((*conf)->scope, scope); /* fits: word_is_name limits it */
	return result;
}

int statement_parse(const struct words *words, uint32_t at, struct conf **conf,
                    struct language_error *error)
{
	return parse(words, at, conf, NULL, error);
}

int statement_parse_fields(const struct statement *statement, const struct words *words,
                           uint32_t at, struct conf **conf, struct language_error *error)
{
	return parse_fields(statement, words, at, conf, NULL, error);
}

/* Returns the column of character `letter` of the text that parse_rest makes of the words from
 * `column` on, joined by single blanks. Exact only if none of these words up to the letter is
 * quoted. */
static uint32_t letter_column(const struct words *words, uint32_t column, uint32_t letter)
{
	uint32_t i = 0;

	while (i < words->n && words->word[i].column != column)
		i++;
	for (; i < words->n; i++) {
		uint32_t bytes = (uint32_t)strlen(words->word[i].text);

		if (letter < bytes)
			return words->word[i].column + letter;
		letter -= bytes + (letter > bytes);
	}
	return words->end_column;
}

uint32_t statement_column(const struct statement *statement, const struct words *words, uint32_t at,
                          int field, uint32_t letter)
{
	uint32_t columns[64] = {0};
	struct language_error error;
	struct conf *conf;
	int result = statement != NULL ? parse_fields(statement, words, at, &conf, columns, &error)
	                               : parse(words, at, &conf, columns, &error);

	if (result == 0)
		conf_free(conf);
	if (result != 0 || field < 0 || field >= 64 || columns[field] == 0)
		return words->word[at].column;
	return letter == 0 ? columns[field] : letter_column(words, columns[field], letter);
}
