/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/command_line.h"

#include <stdio.h>
#include <string.h>

#include "text/alloc_failure.h"

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
	char *text = NULL;
	size_t n;
	FILE *out = alloc_failure_stream(&text, &n);

	if (!out)
		return NULL;
	fprintf(out, "weir %s", command);
	for (int i = 1; i < argc;) {
		int skipped = words_without(argc - i, argv + i, without);

		if (skipped == 0) {
			putc(' ', out);
			put_word(argv[i++], out);
		}
		i += skipped;
	}
	alloc_failure_close(out);
	return text;
}
