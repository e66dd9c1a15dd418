/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/complete.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "language/language.h"
#include "link/class.h"
#include "match/selection.h"
#include "netem/netem.h"
#include "scenario/port_setting.h"
#include "statements.h"
#include "text/array.h"
#include "text/orders_text.h"
#include "text/statement_text.h"
#include "text/value.h"

struct search {
	const struct words *words;
	uint32_t at;        /* index of the word to complete */
	const char *prefix; /* the part of it that is there */
	const struct scenario *scenario;
	struct completion *completion;
	bool failed;
};

static void offer(struct search *search, const char *word)
{
	struct completion *completion = search->completion;
	char *copy;

	if (search->failed || word == NULL ||
	    strncmp(word, search->prefix, strlen(search->prefix)) != 0)
		return;
	copy = strdup(word);
	search->failed = copy == NULL || !array_fits(&completion->words, &completion->room,
	                                             completion->n + 1, sizeof(copy));
	if (search->failed)
		free(copy);
	else
		completion->words[completion->n++] = copy;
}

/* ---- fields ---- */

/* Offers the units for a number that has begun. */
static void offer_units(struct search *search, enum field_type type)
{
	const struct unit *units;
	size_t digits = strspn(search->prefix, "0123456789.");
	char word[64];

	if (digits == 0 || digits > 40)
		return;
	if (type == FIELD_PROBABILITY || type == FIELD_RATIO) {
		snprintf(word, sizeof(word), "%.*s%%", (int)digits, search->prefix);
		offer(search, word);
	}
	for (int i = 0; (units = value_kind(type)->units[i]) != NULL; i++) {
		for (; units->name; units++) {
			snprintf(word, sizeof(word), "%.*s%s", (int)digits, search->prefix,
			         units->name);
			offer(search, word);
		}
	}
}

static void offer_value(struct search *search, const struct field *field)
{
	if (field->type == FIELD_SWITCH) {
		offer(search, "on");
		offer(search, "off");
	} else if (field->type == FIELD_WORD) {
		for (uint32_t i = 0; field->words[i] != NULL; i++)
			offer(search, field->words[i]);
	} else if (field->type == FIELD_WORDS) {
		/* The words of a list, behind what is there of it. */
		const char *comma = strrchr(search->prefix, ',');
		int there = comma == NULL ? 0 : (int)(comma - search->prefix) + 1;
		char word[256];

		for (uint32_t i = 0; field->words[i] != NULL; i++) {
			snprintf(word, sizeof(word), "%.*s%s", there, search->prefix,
			         field->words[i]);
			offer(search, word);
		}
	} else {
		offer_units(search, field->type);
	}
}

/* Skips the value that begins at words[at], and stops at its last word. Returns true if the value
 * extends into the word to complete; its candidates are then offered. */
static bool offer_rest_of_list(struct search *search, const struct field *field, uint32_t *at)
{
	*at += statement_value_words(search->words, *at, search->at, field) - 1;
	if (*at + 1 < search->at || search->words->word[*at].quoted ||
	    !value_list_goes_on(field, search->words->word[*at].text))
		return false;
	offer_value(search, field);
	return true;
}

/* Offers the words of a text that takes the rest of the line. */
static void offer_terms(struct search *search, const struct statement *statement)
{
	for (const struct statement_term *term = statement->terms; term && term->name; term++) {
		if (strchr(term->name, '+') == NULL)
			offer(search, term->name);
	}
}

/* Offers the statements that are allowed inside another. */
static void offer_orders(struct search *search)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (orders_can_change(*row))
			offer(search, (*row)->name);
	}
	offer(search, "no");
}

/* Walks over the words between the statement's name, or its variant, and the word to complete,
 * without checking values, and offers the candidates. */
static void offer_fields(struct search *search, const struct statement *statement, uint32_t at)
{
	const struct field *positional = statement->fields;
	uint64_t given = 0;

	if (statement->number_max != 0 && at < search->at &&
	    isdigit((unsigned char)search->words->word[at].text[0]))
		at++;
	for (;; at++) {
		const struct word *word = &search->words->word[at];
		const struct field *field =
		        at < search->at ? statement_keyword(statement->fields, word) : NULL;

		while (positional->name != NULL &&
		       (statement_is_keyword(positional) || statement_is_inner(positional)))
			positional++;
		if (at >= search->at)
			break;
		if (field == NULL) {
			if (positional->name != NULL && positional->flags & FIELD_REST)
				offer_terms(search, statement);
			if (positional->name == NULL || positional->flags & FIELD_REST ||
			    offer_rest_of_list(search, positional, &at))
				return;
			positional++;
			continue;
		}
		given |= UINT64_C(1) << (field - statement->fields);
		if (field->type != FIELD_FLAG && ++at == search->at) {
			offer_value(search, field);
			return;
		}
		if (field->type != FIELD_FLAG && offer_rest_of_list(search, field, &at))
			return;
		/* A value that is also the name of a field is the keyword of that field as well. */
		if (field->type == FIELD_WORD &&
		    statement_keyword(statement->fields, &search->words->word[at]) != NULL)
			at--;
	}
	if (positional->name != NULL && given == 0) {
		if (positional->flags & FIELD_REST)
			offer_terms(search, statement);
		offer_value(search, positional);
		if (positional->flags & FIELD_REQUIRED)
			return;
	}
	for (const struct field *field = statement->fields; field->name; field++) {
		if (statement_is_keyword(field) && !(given >> (field - statement->fields) & 1))
			offer(search, field->name);
		if (field->type == FIELD_ORDERS)
			offer_orders(search);
	}
}

/* Returns the cloud that words[at] names, or NULL. */
static const struct cloud_conf *cloud_at(const struct search *search, uint32_t at)
{
	int index = search->scenario
	                    ? scenario_find_cloud(search->scenario, search->words->word[at].text)
	                    : -1;

	return index < 0 ? NULL : search->scenario->clouds[index];
}

/* Offers the classes of the cloud that words[at] names. */
static void offer_classes(struct search *search, uint32_t at)
{
	const struct cloud_conf *conf = cloud_at(search, at);

	for (uint32_t i = 0; conf && i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->scoped)
			offer(search, conf->confs[i]->scope);
	}
}

/* Completes class NAME FIELDS, or class NAME STATEMENT FIELDS. */
static void offer_in_class(struct search *search)
{
	const struct statement *statement = &class_statement;

	if (search->at == 3) {
		offer_classes(search, 1);
		return;
	}
	for (const struct statement *const *row = statements; *row; row++) {
		if ((*row)->role != ROLE_AQM && (*row)->role != ROLE_AQM_MODIFIER)
			continue;
		if (search->at == 4)
			offer(search, (*row)->name);
		else if (strcmp((*row)->name, search->words->word[4].text) == 0)
			statement = *row;
	}
	offer_fields(search, statement, statement != &class_statement ? 5 : 4);
}

static void offer_in_statement(struct search *search)
{
	const struct word *name = &search->words->word[2];
	const struct statement *statement = NULL;

	if (strcmp(name->text, class_statement.name) == 0) {
		offer_in_class(search);
		return;
	}
	if (search->at == 3) {
		for (const struct statement *const *row = statements; *row; row++) {
			if (strcmp((*row)->name, name->text) == 0)
				offer(search, (*row)->variant);
		}
	} else {
		statement = statement_find(name->text, name[1].text);
	}
	if (statement != NULL) {
		offer_fields(search, statement, 4);
		return;
	}
	statement = statement_of_words(name->text, "");
	if (statement != NULL)
		offer_fields(search, statement, 3);
}

/* ---- forms ---- */

/* Offers the statements that the cloud has; those of the table if it is NULL. */
static void offer_statements(struct search *search, const struct cloud_conf *cloud)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (cloud == NULL || cloud_conf_get(cloud, (*row)->name) != NULL)
			offer(search, (*row)->name);
	}
}

static void offer_help(struct search *search)
{
	if (search->at == 1) {
		offer(search, "units");
		offer_statements(search, NULL);
		for (const struct language_form *form = language_forms; form->usage; form++) {
			struct language_token token;

			language_token(form, 0, &token);
			offer(search, token.text);
		}
	} else if (search->at == 2 && strcmp(search->words->word[1].text, "cloud") == 0) {
		offer_statements(search, NULL);
	}
}

static void offer_slot(struct search *search, const struct language_form *form, const char *slot)
{
	const struct scenario *scenario = search->scenario;
	const struct cloud_conf *conf = search->at > 2 ? cloud_at(search, 2) : NULL;
	const struct word *word = search->words->word;

	if (strcmp(slot, "STATEMENT") == 0 && search->at > 3) {
		for (uint32_t i = 0; conf && i < conf->n_confs; i++) {
			if (!conf->confs[i]->statement->scoped &&
			    strcmp(conf->confs[i]->scope, word[4].text) == 0)
				offer(search, conf->confs[i]->statement->name);
		}
	} else if (strcmp(slot, "STATEMENT") == 0) {
		/* Only the cloud's own statements can be removed. */
		offer_statements(search, form->kind == COMMAND_NO_STATEMENT ? conf : NULL);
	} else if (strcmp(slot, "NUMBER") == 0) {
		const struct conf *numbered = conf ? cloud_conf_get(conf, word[3].text) : NULL;

		for (; numbered; numbered = cloud_conf_next(conf, numbered)) {
			char number[16];

			snprintf(number, sizeof(number), "%u", numbered->number);
			offer(search, numbered->number ? number : NULL);
		}
	} else if (strcmp(slot, "CLASS") == 0) {
		offer_classes(search, 2);
	} else if (strcmp(slot, "WORDS") == 0) {
		offer_help(search);
	} else if (scenario != NULL) {
		bool place = strcmp(slot, "PLACE") == 0;

		for (uint32_t i = 0; i < scenario->n_ports; i++)
			offer(search,
			      place || strcmp(slot, "PORT") == 0 ? scenario->ports[i].name : NULL);
		for (uint32_t i = 0; i < scenario->n_clouds; i++)
			offer(search, place || strcmp(slot, "CLOUD") == 0
			                      ? scenario->clouds[i]->name
			                      : NULL);
	}
}

static bool has_classes(const struct cloud_conf *conf)
{
	for (uint32_t i = 0; conf && i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->scoped)
			return true;
	}
	return false;
}

static void offer_forms(struct search *search)
{
	uint32_t rest, alive = language_match(search->words, search->at, &rest);

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		const struct language_form *form = &language_forms[f];
		struct language_token token;

		if (!(alive >> f & 1))
			continue;
		if (rest != UINT32_MAX && form->kind == COMMAND_STATEMENT)
			offer_in_statement(search);
		else if (form->kind == COMMAND_NETEM && search->at >= 3)
			for (const char *const *word = netem_words; *word != NULL; word++)
				offer(search, *word);
		else if (form->kind == COMMAND_PORT && search->at >= LANGUAGE_SETTING_AT)
			offer_fields(search, &port_setting_statement, LANGUAGE_SETTING_AT);
		else if (form->kind == COMMAND_CLOUD && search->at >= LANGUAGE_SELECTION_AT)
			offer_fields(search, &selection_statement, LANGUAGE_SELECTION_AT);
		else if (form->kind == COMMAND_CLOUDS && search->at > LANGUAGE_SELECTION_AT)
			offer_fields(search, &selection_per_statement, LANGUAGE_SELECTION_AT + 1);
		else if (rest != UINT32_MAX)
			offer_help(search);
		else if (!language_token(form, search->at, &token))
			continue;
		else if (token.slot)
			offer_slot(search, form, token.text);
		else if (form->kind != COMMAND_NO_STATEMENT || search->at != 3 ||
		         has_classes(cloud_at(search, 2)))
			offer(search, token.text);
	}
}

/* ---- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct completion *completion)
{
	uint32_t kept = 0;

	if (completion->n == 0)
		return;
	qsort(completion->words, completion->n, sizeof(*completion->words), compare);
	for (uint32_t i = 1; i < completion->n; i++) {
		if (strcmp(completion->words[i], completion->words[kept]) == 0)
			free(completion->words[i]);
		else
			completion->words[++kept] = completion->words[i];
	}
	completion->n = kept + 1;
}

int complete(const char *line, const struct scenario *scenario, struct completion *completion)
{
	struct search search = {.scenario = scenario, .completion = completion, .prefix = ""};
	struct language_error error;
	struct words *words = malloc(sizeof(*words));

	memset(completion, 0, sizeof(*completion));
	if (words == NULL)
		return -ENOMEM;
	completion->start = strlen(line);
	if (words_split(line, words, &error) != 0 || words->comment)
		goto done;
	search.words = words;
	search.at = words->n;
	if (words->open) {
		search.at--;
		search.prefix = words->word[search.at].text;
		completion->start = words->word[search.at].offset;
	}
	/* Words that can be completed are never quoted. */
	if (!words->open || !words->word[search.at].quoted)
		offer_forms(&search);
	sort(completion);
done:
	free(words);
	if (!search.failed)
		return 0;
	complete_release(completion);
	return -ENOMEM;
}

void complete_release(struct completion *completion)
{
	for (uint32_t i = 0; i < completion->n; i++)
		free(completion->words[i]);
	free(completion->words);
	memset(completion, 0, sizeof(*completion));
}
