/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a statement's configuration, driven by its table of fields. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

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
		*(uint64_t *)at = field->initial;
		break;
	case FIELD_WORD:
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
		break; /* all zero: none */
	}
}

struct conf *conf_make(const struct statement *statement)
{
	struct conf *conf = calloc(1, statement->conf_bytes);

	if (!conf)
		return NULL;
	conf->statement = statement;
	for (const struct field *field = statement->fields; field->name; field++)
		field_reset(conf, field);
	return conf;
}

struct conf *conf_copy(const struct conf *conf)
{
	struct conf *copy = malloc(conf->statement->conf_bytes);

	if (!copy)
		return NULL;
	memcpy(copy, conf, conf->statement->conf_bytes);
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		if (field->type == FIELD_TEXT)
			*(char **)field_at(copy, field) = NULL;
	}
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		const char *text;

		if (field->type != FIELD_TEXT)
			continue;
		text = *(char **)field_at(conf, field);
		if (text && !(*(char **)field_at(copy, field) = strdup(text))) {
			conf_free(copy);
			return NULL;
		}
	}
	return copy;
}

void conf_free(struct conf *conf)
{
	if (!conf)
		return;
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		if (field->type == FIELD_TEXT)
			free(*(char **)field_at(conf, field));
	}
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
		return *(const uint64_t *)x == *(const uint64_t *)y;
	case FIELD_WORD:
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
	}
	return false;
}

bool conf_equal(const struct conf *a, const struct conf *b)
{
	if (a->statement != b->statement)
		return false;
	for (const struct field *field = a->statement->fields; field->name; field++) {
		if (!field_equal(a, b, field))
			return false;
	}
	return true;
}
