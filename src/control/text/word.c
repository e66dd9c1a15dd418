/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/word.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario/scenario.h"
#include "text/alloc_failure.h"

struct splitter {
	const char *line;
	size_t at;       /* in bytes */
	uint32_t column; /* of `at` */
	char *out;       /* where the next byte of a word goes */
	struct words *words;
	struct language_error *error;
};

/* Returns the number of bytes of the character at `text`; 0 if it is not UTF-8 (RFC 3629: no
 * surrogates, nothing overlong) or a control character other than a tab. */
static size_t character_bytes(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t bytes;
	uint32_t code;

	if (c[0] < 0x80)
		return (c[0] >= 0x20 && c[0] != 0x7f) || c[0] == '\t' ? 1 : 0;
	if (c[0] < 0xc2 || c[0] > 0xf4)
		return 0;
	bytes = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
	code = c[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3fu);
	}
	if (code >= 0xd800 && code <= 0xdfff)
		return 0;
	/* U+0080 to U+009f are control characters as well. */
	if (code < 0xa0 || (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) ||
	    code > 0x10ffff)
		return 0;
	return bytes;
}

bool word_is_text(const char *text)
{
	for (size_t bytes; *text; text += bytes) {
		bytes = character_bytes(text);
		if (bytes == 0)
			return false;
	}
	return true;
}

/* Copies one character to the word. */
static int take(struct splitter *s)
{
	size_t bytes = character_bytes(s->line + s->at);

	if (bytes == 0) {
		unsigned char c = (unsigned char)s->line[s->at];

		s->error->column = s->column;
		if (c >= 0x80)
			return language_error_set(s->error, ERROR_BAD_CHARACTER,
			                          "the byte 0x%02x is not part of UTF-8 text", c);
		return language_error_set(
		        s->error, ERROR_BAD_CHARACTER,
		        "the control character 0x%02x; a line is made of printable text", c);
	}
	memcpy(s->out, s->line + s->at, bytes);
	s->out += bytes;
	s->at += bytes;
	s->column++;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns true at the end of the line. A carriage return right before the end is a part of the end
 * (CR LF). */
static bool is_end(const char *text)
{
	return text[0] == 0 || (text[0] == '\r' && text[1] == 0);
}

static int take_quoted(struct splitter *s)
{
	uint32_t begin = s->column;

	s->at++;
	s->column++;
	while (s->line[s->at] != '"') {
		if (is_end(s->line + s->at))
			return language_error_at(s->error, begin, ERROR_BAD_QUOTE,
			                         "this quote is not closed; end the text with \"");
		if (s->line[s->at] == '\\') {
			if (s->line[s->at + 1] != '"' && s->line[s->at + 1] != '\\')
				return language_error_at(s->error, s->column, ERROR_BAD_QUOTE,
				                         "in quotes a backslash stands before \" "
				                         "or another backslash: "
				                         "\\\" or \\\\");
			s->at++;
			s->column++;
		}
		if (take(s) != 0)
			return -EINVAL;
	}
	s->at++;
	s->column++;
	if (!is_end(s->line + s->at) && !is_blank(s->line[s->at]))
		return language_error_at(s->error, s->column, ERROR_BAD_QUOTE,
		                         "a blank must follow the closing quote");
	return 0;
}

static int take_bare(struct splitter *s)
{
	while (!is_end(s->line + s->at) && !is_blank(s->line[s->at])) {
		if (s->line[s->at] == '"')
			return language_error_at(s->error, s->column, ERROR_BAD_QUOTE,
			                         "a quote in the middle of a word; put the whole "
			                         "word between quotes, "
			                         "and write \\\" for a quote in it");
		if (take(s) != 0)
			return -EINVAL;
	}
	return 0;
}

static int take_word(struct splitter *s)
{
	struct word *word = &s->words->word[s->words->n];
	int result;

	if (s->words->n == LINE_WORDS_MAX)
		return language_error_at(s->error, s->column, ERROR_TOO_LONG,
		                         "more than %d words in a line, which is the maximum",
		                         LINE_WORDS_MAX);
	word->text = s->out;
	word->column = s->column;
	word->offset = (uint32_t)s->at;
	word->quoted = s->line[s->at] == '"';
	result = word->quoted ? take_quoted(s) : take_bare(s);
	if (result != 0)
		return result;
	*s->out++ = 0;
	s->words->n++;
	s->words->end_column = s->column + 1;
	return 0;
}

int words_split(const char *line, struct words *words, struct language_error *error)
{
	struct splitter s = {
	        .line = line, .column = 1, .out = words->text, .words = words, .error = error};

	words->n = 0;
	words->end_column = 1;
	words->open = false;
	words->comment = false;
	if (strnlen(line, LINE_BYTES_MAX + 1) > LINE_BYTES_MAX)
		return language_error_at(error, 0, ERROR_TOO_LONG,
		                         "the line is longer than %d bytes, which is the maximum",
		                         LINE_BYTES_MAX);
	for (;;) {
		while (is_blank(line[s.at])) {
			s.at++;
			s.column++;
		}
		words->comment = line[s.at] == '#';
		if (is_end(line + s.at) || words->comment)
			return 0;
		if (take_word(&s) != 0)
			return -EINVAL;
		words->open = line[s.at] == 0;
	}
}

const char *words_text(const struct words *words, uint32_t at)
{
	return at < words->n ? words->word[at].text : NULL;
}

bool words_is(const struct words *words, uint32_t at, const char *text)
{
	return at < words->n && !words->word[at].quoted && strcmp(words->word[at].text, text) == 0;
}

uint32_t words_column(const struct words *words, uint32_t at)
{
	return at < words->n ? words->word[at].column : words->end_column;
}

void word_print(FILE *out, const char *text, bool quote)
{
	if (!quote && text[0] != 0 && text[0] != '#' && strpbrk(text, " \t\"") == NULL) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

bool word_is_name(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && length < SCENARIO_NAME_BYTES &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
	               length;
}

#define PLAIN                                                                                      \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"                           \
	"%+,-./:=@_"

static void put_word(const char *word, FILE *out)
{
	if (word[0] != '\0' && word[strspn(word, PLAIN)] == '\0') {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

/* Returns how many words belong to an option that is to be left out: 0, if it is none. */
static int words_without(int argc, char *const *argv, const char *const *without)
{
	for (; *without; without++) {
		size_t n = strlen(*without);

		if (strncmp(argv[0], *without, n) != 0)
			continue;
		if (argv[0][n] == '=')
			return 1;
		if (argv[0][n] == '\0')
			return argc > 1 ? 2 : 1;
	}
	return 0;
}

char *command_line_text(const char *command, int argc, char *const *argv,
                        const char *const *without)
{
	struct printed text;
	FILE *out = printed_begin(&text);

	fprintf(out, "weir %s", command);
	for (int i = 1; i < argc;) {
		int skipped = words_without(argc - i, argv + i, without);

		if (skipped == 0) {
			putc(' ', out);
			put_word(argv[i++], out);
		}
		i += skipped;
	}
	return printed_end(&text);
}
