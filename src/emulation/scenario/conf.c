/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes, copies, compares and frees the configuration of a statement, driven by its table of
 * fields. */
#include <stdlib.h>
#include <string.h>

#include "account/tally.h"
#include "scenario/file.h"
#include "scenario/scenario.h"
#include "scenario/orders.h"

static void *field_at(const struct conf *conf, const struct field *field)
{
	return (char *)(uintptr_t)conf + field->offset;
}

static void field_reset(struct conf *conf, const struct field *field)
{
	void *at = field_at(conf, field);

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_PROBABILITY:
	case FIELD_COUNT:
	case FIELD_FACTOR:
		*(uint64_t *)at = field->initial;
		break;
	case FIELD_WORD:
	case FIELD_WORDS:
		*(uint32_t *)at = (uint32_t)field->initial;
		break;
	case FIELD_SWITCH:
	case FIELD_FLAG:
		*(bool *)at = field->initial != 0;
		break;
	case FIELD_LIMIT:
	case FIELD_IPV4:
	case FIELD_IPV6:
	case FIELD_TEXT:
	case FIELD_RATIO:
	case FIELD_RANGE:
	case FIELD_NUMBERS:
	case FIELD_FILE:
	case FIELD_RATES:
	case FIELD_TIMES:
	case FIELD_PROBABILITIES:
	case FIELD_ORDERS:
	case FIELD_STATES:
		break; /* all zero: none */
	}
}

struct conf *conf_make(const struct statement *statement)
{
	struct conf *conf = calloc(1, statement->conf_bytes);

	if (!conf)
		return NULL;
	conf->statement = statement;
	conf->number = statement->number_max ? 1 : 0;
	for (const struct field *field = statement->fields; field->name; field++)
		field_reset(conf, field);
	return conf;
}

/* Clears the pointers of a copied field, which belong to the original. */
static void field_disown(struct conf *conf, const struct field *field)
{
	void *at = field_at(conf, field);

	if (field->type == FIELD_TEXT)
		*(char **)at = NULL;
	else if (field->type == FIELD_NUMBERS)
		((struct numbers *)at)->value = NULL;
	else if (field->type == FIELD_FILE)
		*(struct file **)at = NULL;
	else if (field->type == FIELD_ORDERS)
		memset(at, 0, sizeof(struct orders));
	else if (field->type == FIELD_STATES)
		memset(at, 0, sizeof(struct states));
}

static bool numbers_copy(struct numbers *to, const struct numbers *from)
{
	if (from->n == 0)
		return true;
	to->value = malloc(from->n * sizeof(*to->value));
	if (to->value)
		memcpy(to->value, from->value, from->n * sizeof(*to->value));
	return to->value != NULL;
}

/* Returns false if there is no memory. */
static bool field_copy(struct conf *copy, const struct conf *conf, const struct field *field)
{
	void *to = field_at(copy, field);
	const void *from = field_at(conf, field);

	if (field->type == FIELD_NUMBERS)
		return numbers_copy(to, from);
	if (field->type == FIELD_FILE)
		*(struct file **)to = file_hold(*(struct file *const *)from);
	if (field->type == FIELD_ORDERS)
		return orders_copy(to, from);
	if (field->type == FIELD_STATES)
		return states_copy(to, from);
	if (field->type != FIELD_TEXT || !*(char *const *)from)
		return true;
	*(char **)to = strdup(*(char *const *)from);
	return *(char **)to != NULL;
}

struct conf *conf_copy(const struct conf *conf)
{
	struct conf *copy = malloc(conf->statement->conf_bytes);

	if (!copy)
		return NULL;
	memcpy(copy, conf, conf->statement->conf_bytes);
	tally_hold(copy->tally);
	for (const struct field *field = conf->statement->fields; field->name; field++)
		field_disown(copy, field);
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		if (!field_copy(copy, conf, field)) {
			conf_free(copy);
			return NULL;
		}
	}
	return copy;
}

static void field_free(struct conf *conf, const struct field *field)
{
	void *at = field_at(conf, field);

	if (field->type == FIELD_TEXT)
		free(*(char **)at);
	else if (field->type == FIELD_NUMBERS)
		free(((struct numbers *)at)->value);
	else if (field->type == FIELD_FILE)
		file_release(*(struct file **)at);
	else if (field->type == FIELD_ORDERS)
		orders_clear(at);
	else if (field->type == FIELD_STATES)
		states_clear(at);
}

void conf_free(struct conf *conf)
{
	if (!conf)
		return;
	for (const struct field *field = conf->statement->fields; field->name; field++)
		field_free(conf, field);
	tally_release(conf->tally);
	free(conf);
}

static bool field_equal(const struct conf *a, const struct conf *b, const struct field *field)
{
	const void *x = field_at(a, field), *y = field_at(b, field);

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_PROBABILITY:
	case FIELD_COUNT:
	case FIELD_FACTOR:
		return *(const uint64_t *)x == *(const uint64_t *)y;
	case FIELD_WORD:
	case FIELD_WORDS:
	case FIELD_IPV4:
		return *(const uint32_t *)x == *(const uint32_t *)y;
	case FIELD_SWITCH:
	case FIELD_FLAG:
		return *(const bool *)x == *(const bool *)y;
	case FIELD_LIMIT: {
		const struct limit *l = x, *m = y;

		return l->value == m->value && l->unit == m->unit;
	}
	case FIELD_IPV6:
		return memcmp(x, y, 16) == 0;
	case FIELD_TEXT: {
		const char *s = *(char *const *)x, *t = *(char *const *)y;

		return s == t || (s && t && strcmp(s, t) == 0);
	}
	case FIELD_RATIO: {
		const struct ratio *r = x, *t = y;

		return r->digits == t->digits && r->places == t->places;
	}
	case FIELD_RANGE:
	case FIELD_RATES:
	case FIELD_TIMES:
	case FIELD_PROBABILITIES: {
		const struct range *r = x, *t = y;

		return r->from == t->from && r->to == t->to;
	}
	case FIELD_NUMBERS: {
		const struct numbers *m = x, *n = y;

		return m->n == n->n &&
		       (m->n == 0 || memcmp(m->value, n->value, m->n * sizeof(*m->value)) == 0);
	}
	case FIELD_FILE:
		return file_equal(*(struct file *const *)x, *(struct file *const *)y);
	case FIELD_ORDERS:
		return orders_equal(x, y);
	case FIELD_STATES:
		return states_equal(x, y);
	}
	return false;
}

bool conf_equal(const struct conf *a, const struct conf *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->number == b->number && conf_alike(a, b);
}

bool conf_alike(const struct conf *a, const struct conf *b)
{
	if (a->statement != b->statement || strcmp(a->scope, b->scope) != 0)
		return false;
	for (const struct field *field = a->statement->fields; field->name; field++) {
		if (!field_equal(a, b, field))
			return false;
	}
	return true;
}
