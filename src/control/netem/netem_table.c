/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/word.h"

#define SHOWN(text) language_error_shown(text), text

static int words_of(const char *path, char *words, size_t room, struct language_error *error)
{
	FILE *out = fmemopen(words, room, "w");

	if (!out)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	fputs(" distribution table ", out);
	word_print(out, path, false);
	if (fclose(out) == 0)
		return 0;
	return language_error_set(error, ERROR_TOO_LONG, "the table's name is too long");
}

int netem_table_words(const char *name, char *words, size_t room, struct language_error *error)
{
	const char *const folders[] = {
	        getenv("TC_LIB_DIR"),
	        "/usr/lib/tc",
	        "/usr/lib/x86_64-linux-gnu/tc",
	        "/usr/lib/aarch64-linux-gnu/tc",
	        "/usr/lib64/tc",
	        "/usr/share/tc",
	};
	size_t length = strlen(name);
	char path[400];

	if (length > 256)
		return language_error_set(error, ERROR_TOO_LONG,
		                          "the name of a table has at most 256 bytes");
	if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".dist") == 0))
		return words_of(name, words, room, error);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s.dist", folders[i], name);
		if (access(path, R_OK) == 0)
			return words_of(path, words, room, error);
	}
	return language_error_set(
	        error, ERROR_BAD_VALUE,
	        "there is no table `%.*s` where tc keeps its tables; `uniform`, `normal`, `pareto` "
	        "and `paretonormal` need none; write a file as ./%.*s.dist",
	        SHOWN(name), SHOWN(name));
}
