/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/language_error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHOWN_BYTES 60

/* Returns the length of the text up to `bytes`, less if the cut would split a character. */
static size_t cut_between_characters(const char *text, size_t bytes)
{
	while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static __attribute__((format(printf, 3, 0))) int set(struct language_error *error, const char *name,
                                                     const char *format, va_list arguments)
{
	int length = vsnprintf(error->text, sizeof(error->text), format, arguments);

	error->name = name;
	if (length >= (int)sizeof(error->text)) {
		/* Cut at a boundary of characters that leaves room for the dots. */
		size_t end = cut_between_characters(error->text, sizeof(error->text) - 4);

		memcpy(error->text + end, "...", 4);
	}
	return strcmp(name, ERROR_NO_MEMORY) == 0 ? -ENOMEM : -EINVAL;
}

int language_error_set(struct language_error *error, const char *name, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = set(error, name, format, arguments);
	va_end(arguments);
	return result;
}

int language_error_at(struct language_error *error, uint32_t column, const char *name,
                      const char *format, ...)
{
	va_list arguments;
	int result;

	error->column = column;
	va_start(arguments, format);
	result = set(error, name, format, arguments);
	va_end(arguments);
	return result;
}

int language_error_shown(const char *word)
{
	size_t length = strlen(word);

	return (int)(length <= SHOWN_BYTES ? length : cut_between_characters(word, SHOWN_BYTES));
}

#define NEAREST_BYTES_MAX 64
#define EDIT_COST         2
#define CASE_COST         1

static uint32_t change_cost(char a, char b)
{
	if (a == b)
		return 0;
	if (tolower((unsigned char)a) == tolower((unsigned char)b))
		return CASE_COST;
	return EDIT_COST;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

uint32_t nearest_distance(const char *a, const char *b)
{
	/* rows i - 2, i - 1 and i of the table of distances between the beginnings of a and b */
	uint32_t row[3][NEAREST_BYTES_MAX + 1];
	size_t m = strlen(a), n = strlen(b);

	if (m > NEAREST_BYTES_MAX || n > NEAREST_BYTES_MAX)
		return UINT32_MAX;
	for (size_t j = 0; j <= n; j++)
		row[0][j] = (uint32_t)j * EDIT_COST;
	for (size_t i = 1; i <= m; i++) {
		uint32_t *now = row[i % 3], *before = row[(i + 2) % 3];
		const uint32_t *before_that = row[(i + 1) % 3];

		now[0] = (uint32_t)i * EDIT_COST;
		for (size_t j = 1; j <= n; j++) {
			now[j] = least(before[j], now[j - 1]) + EDIT_COST;
			now[j] = least(now[j], before[j - 1] + change_cost(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before_that[j - 2] + EDIT_COST);
		}
	}
	return row[m % 3][n];
}

void nearest_start(struct nearest *nearest, const char *word)
{
	nearest->word = word;
	nearest->best = NULL;
	nearest->distance = UINT32_MAX;
	nearest->copy[0] = 0;
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
	size_t length;
	uint32_t distance, bound;

	if (candidate == NULL)
		return;
	length = strlen(nearest->word);
	if (strlen(candidate) > length)
		length = strlen(candidate);
	/* 1 or 2 letters: only a change of case; 3 to 5: one edit; then one more for every 3
	 * letters. */
	if (length < 3 && strcasecmp(nearest->word, candidate) != 0)
		return;
	bound = length < 3 ? CASE_COST * (uint32_t)length : EDIT_COST * (uint32_t)(length / 3);
	distance = nearest_distance(nearest->word, candidate);
	/* A candidate that differs in case only is accepted at any distance. */
	if ((distance > bound && strcasecmp(nearest->word, candidate) != 0) ||
	    distance >= nearest->distance)
		return;
	strcpy(nearest->copy, candidate); /* fits: the distance of a longer word is UINT32_MAX */
	nearest->best = nearest->copy;
	nearest->distance = distance;
}

bool nearest_suggest(const struct nearest *nearest, struct language_error *error)
{
	if (nearest->best == NULL)
		return false;
	language_error_set(error, ERROR_UNKNOWN_WORD, "unknown word `%.*s`; did you mean `%s`?",
	                   SHOWN(nearest->word), nearest->best);
	return true;
}

#define CUT_MARK ", ..."

void listing_start(struct listing *listing, const char *conjunction)
{
	memset(listing, 0, sizeof(*listing));
	listing->conjunction = conjunction;
}

/* Appends the pending word, with the comma or conjunction before it. */
static void append(struct listing *listing, bool last)
{
	char text[128];
	int length;

	if (listing->pending[0] == 0 || listing->length >= sizeof(listing->text))
		return;
	if (listing->n == 0)
		length = snprintf(text, sizeof(text), "%s", listing->pending);
	else if (last)
		length = snprintf(text, sizeof(text), " %s %s", listing->conjunction,
		                  listing->pending);
	else
		length = snprintf(text, sizeof(text), ", %s", listing->pending);
	if (listing->length + (uint32_t)length + sizeof(CUT_MARK) > sizeof(listing->text)) {
		strcpy(listing->text + listing->length, CUT_MARK);
		listing->length = sizeof(listing->text);
		return;
	}
	memcpy(listing->text + listing->length, text, (size_t)length + 1);
	listing->length += (uint32_t)length;
	listing->n++;
}

static void add(struct listing *listing, const char *text)
{
	if (strcmp(listing->pending, text) == 0)
		return;
	append(listing, false);
	snprintf(listing->pending, sizeof(listing->pending), "%s", text);
}

void listing_add(struct listing *listing, const char *word)
{
	char text[sizeof(listing->pending)];

	snprintf(text, sizeof(text), "`%.50s`", word);
	add(listing, text);
}

void listing_add_plain(struct listing *listing, const char *words)
{
	add(listing, words);
}

const char *listing_end(struct listing *listing)
{
	append(listing, true);
	listing->pending[0] = 0;
	return listing->text;
}
