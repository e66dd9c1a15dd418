/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128
#define DEPTH_MAX  32

struct reader {
	const char *at;
	const struct figures *figures;
	char *message;
	size_t room;
	int depth;
	bool bad;
};

static double fail(struct reader *reader, const char *what, const char *where)
{
	if (!reader->bad)
		snprintf(reader->message, reader->room, "%s `%.60s`", what, where);
	reader->bad = true;
	return 0;
}

static char ahead(struct reader *reader)
{
	while (*reader->at == ' ')
		reader->at++;
	return *reader->at;
}

static double sum(struct reader *reader);

static double name_value(struct reader *reader)
{
	const char *begin = reader->at;
	char name[NAME_BYTES];
	double value = 0;
	size_t n = 0;

	while (isalnum((unsigned char)begin[n]) || (begin[n] && strchr("._-@%", begin[n])))
		n++;
	if (n >= sizeof(name))
		return fail(reader, "a name that is too long:", begin);
	memcpy(name, begin, n);
	name[n] = 0;
	reader->at += n;
	if (!reader->figures->find(reader->figures->argument, name, &value))
		return fail(reader, "no measured value is called", name);
	return value;
}

static double atom(struct reader *reader)
{
	char c = ahead(reader);
	double value;

	if (c == '(') {
		if (++reader->depth > DEPTH_MAX)
			return fail(reader, "too many parentheses at", reader->at);
		reader->at++;
		value = sum(reader);
		if (ahead(reader) != ')')
			return fail(reader, "a `)` is missing at", reader->at);
		reader->at++;
		reader->depth--;
		return value;
	}
	if (c == '-') {
		if (++reader->depth > DEPTH_MAX)
			return fail(reader, "too many signs at", reader->at);
		reader->at++;
		value = -atom(reader);
		reader->depth--;
		return value;
	}
	if (isalpha((unsigned char)c))
		return name_value(reader);
	if (isdigit((unsigned char)c)) {
		char *end;

		value = strtod(reader->at, &end);
		reader->at = end;
		return value;
	}
	return fail(reader, "a number or a name is missing at", reader->at);
}

static double product(struct reader *reader)
{
	double value = atom(reader);

	for (char c = ahead(reader); !reader->bad && (c == '*' || c == '/'); c = ahead(reader)) {
		reader->at++;
		if (c == '*')
			value *= atom(reader);
		else
			value /= atom(reader);
	}
	return value;
}

static double sum(struct reader *reader)
{
	double value = product(reader);

	for (char c = ahead(reader); !reader->bad && (c == '+' || c == '-'); c = ahead(reader)) {
		reader->at++;
		value += c == '+' ? product(reader) : -product(reader);
	}
	return value;
}

int expression_value(const char *text, const struct figures *figures, double *value, char *message,
                     size_t room)
{
	struct reader reader = {.at = text, .figures = figures, .message = message, .room = room};

	*value = sum(&reader);
	if (!reader.bad && ahead(&reader) != 0)
		fail(&reader, "not expected here:", reader.at);
	return reader.bad ? -EINVAL : 0;
}
