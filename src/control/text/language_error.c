/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/language_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 60

/* Returns the length of the text up to `bytes`, less if the cut would split a character. */
static size_t cut_between_characters(const char *text, size_t bytes)
{
	while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

int language_error_set(struct language_error *error, const char *name, const char *format, ...)
{
	va_list arguments;
	int length;

	error->name = name;
	va_start(arguments, format);
	length = vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(error->text)) {
		/* Cut at a boundary of characters that leaves room for the dots. */
		size_t end = cut_between_characters(error->text, sizeof(error->text) - 4);

		memcpy(error->text + end, "...", 4);
	}
	return strcmp(name, ERROR_NO_MEMORY) == 0 ? -ENOMEM : -EINVAL;
}

int language_error_shown(const char *word)
{
	size_t length = strlen(word);

	return (int)(length <= SHOWN_BYTES ? length : cut_between_characters(word, SHOWN_BYTES));
}
