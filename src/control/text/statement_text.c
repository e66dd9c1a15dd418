/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints statements; statement_parse.c parses them. */
#include "text/statement_text.h"

#include <string.h>

#include "scenario/file.h"
#include "statements.h"
#include "text/value.h"

bool statement_is_inner(const struct field *field)
{
	return field->type == FIELD_ORDERS || field->type == FIELD_STATES;
}

bool statement_is_keyword(const struct field *field)
{
	return !(field->flags & FIELD_POSITIONAL);
}

const struct field *statement_keyword(const struct field *fields, const struct word *word)
{
	if (word->quoted)
		return NULL;
	for (; fields->name; fields++) {
		if (statement_is_keyword(fields) && strcmp(fields->name, word->text) == 0)
			return fields;
	}
	return NULL;
}

uint32_t statement_value_words(const struct words *words, uint32_t at, uint32_t end,
                               const struct field *field)
{
	uint32_t n = 1;

	while (at + n < end && !words->word[at + n - 1].quoted &&
	       value_list_goes_on(field, words->word[at + n - 1].text))
		n++;
	return n;
}

const struct statement *statement_of_words(const char *name, const char *word)
{
	const struct statement *statement = statement_find(name, word);

	if (statement == NULL)
		statement = statement_find(name, NULL);
	for (const struct statement *const *row = statements; *row && statement == NULL; row++) {
		if ((*row)->by_percent && strcmp((*row)->name, name) == 0)
			statement = *row;
	}
	return statement;
}

bool statement_is_off(const struct words *words, uint32_t at)
{
	const struct word *word = &words->word[at];
	uint32_t n = words->n - at;
	const struct statement *row;

	if (n < 2 || n > 3 || word->quoted || word[n - 1].quoted ||
	    strcmp(word[n - 1].text, STATEMENT_OFF) != 0 || !statement_named(word->text))
		return false;
	row = statement_of_words(word->text, "");
	if (n == 3)
		return row != NULL && row->number_max != 0 &&
		       strspn(word[1].text, "0123456789") == strlen(word[1].text);
	return row == NULL || (!row->scoped && row->fields->type != FIELD_SWITCH);
}

void statement_owners(const char *field, struct listing *listing)
{
	for (const struct statement *const *row = statements; *row; row++) {
		for (const struct field *own = (*row)->fields; own->name; own++) {
			if (statement_is_keyword(own) && strcmp(own->name, field) == 0)
				listing_add(listing, (*row)->name);
		}
	}
}

const struct statement *statement_named(const char *name)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) == 0)
			return *row;
	}
	return NULL;
}

static void print_name(FILE *out, const struct statement *statement)
{
	fprintf(out, "%s%s%s", statement->name, statement->variant ? " " : "",
	        statement->variant ? statement->variant : "");
}

/* Quotes a positional text that would be parsed as a keyword or as `off`. */
static void print_positional(FILE *out, const struct field *field, const struct conf *conf)
{
	const void *at = (const char *)conf + field->offset;
	struct word word = {.text = ""};

	if (field->type == FIELD_TEXT)
		word.text = *(char *const *)at;
	else if (field->type == FIELD_FILE)
		word.text = (*(struct file *const *)at)->name;
	if (field->flags & FIELD_REST)
		fputs(word.text, out);
	else if (field->type == FIELD_TEXT || field->type == FIELD_FILE)
		word_print(out, word.text,
		           statement_keyword(conf->statement->fields, &word) != NULL ||
		                   strcmp(word.text, STATEMENT_OFF) == 0);
	else
		value_print(out, field, conf);
}

/* Returns the word that is the value of the field, or NULL. It may be the next field's name as
 * well. */
static const char *word_of(const struct field *field, const struct conf *conf)
{
	if (field->type != FIELD_WORD)
		return NULL;
	return field->words[*(const uint32_t *)(const void *)((const char *)conf + field->offset)];
}

void statement_print_fields(FILE *out, const struct conf *conf)
{
	const struct field *fields = conf->statement->fields;
	const char *said = NULL;

	for (const struct field *field = fields; field->name; field++) {
		if (statement_is_keyword(field) || statement_is_inner(field) ||
		    !(conf->given >> (field - fields) & 1))
			continue;
		fputc(' ', out);
		print_positional(out, field, conf);
	}
	for (const struct field *field = fields; field->name; field++) {
		if (!statement_is_keyword(field) || !(conf->given >> (field - fields) & 1))
			continue;
		if (said == NULL || strcmp(said, field->name) != 0)
			fprintf(out, " %s", field->name);
		fputs(field->type == FIELD_FLAG ? "" : " ", out);
		if (field->flags & FIELD_REST)
			print_positional(out, field, conf);
		else
			value_print(out, field, conf);
		said = word_of(field, conf);
	}
	for (const struct field *field = fields; field->name; field++) {
		if (!statement_is_inner(field) || !(conf->given >> (field - fields) & 1))
			continue;
		fputc(' ', out);
		value_print(out, field, conf);
	}
}

void statement_print(FILE *out, const struct conf *conf)
{
	if (conf->scope[0])
		fprintf(out, "class %s%s", conf->scope, conf->statement->scoped ? "" : " ");
	if (!conf->statement->scoped)
		print_name(out, conf->statement);
	if (conf->statement->number_max != 0)
		fprintf(out, " %u", conf->number);
	statement_print_fields(out, conf);
}

static void print_field_synopsis(FILE *out, const struct field *field)
{
	bool required = field->flags & FIELD_REQUIRED;

	fputs(required ? " " : " [", out);
	if (statement_is_keyword(field))
		fprintf(out, "%s%s", field->name, field->type == FIELD_FLAG ? "" : " ");
	value_print_kind(out, field);
	if (field->flags & FIELD_REST && field->form == NULL && !statement_is_inner(field))
		fputs("...", out);
	if (!required)
		fputc(']', out);
}

void statement_print_synopsis(FILE *out, const struct statement *statement)
{
	print_name(out, statement);
	fputs(statement->number_max != 0 ? " [N]" : statement->scoped ? " NAME" : "", out);
	for (const struct field *field = statement->fields; field->name; field++) {
		if (!statement_is_keyword(field) && !statement_is_inner(field))
			print_field_synopsis(out, field);
	}
	for (const struct field *field = statement->fields; field->name; field++) {
		if (statement_is_keyword(field))
			print_field_synopsis(out, field);
	}
	for (const struct field *field = statement->fields; field->name; field++) {
		if (statement_is_inner(field))
			print_field_synopsis(out, field);
	}
}
