/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/shell_complete.h"
#include "language/complete.h"

/* Commands of the conversation, in addition to the words of the language. */
static const char *const phrases[] = {
        "abort", "begin",  "begin lease", "begin whole", "commit", "events", "events from",
        "exit",  "hello",  "json off",    "json on",     "keep",   "load",   "quit",
        "renew", "revert", "sample",      "save",        NULL};
#define PHRASES (sizeof(phrases) / sizeof(phrases[0]))

void shell_choices_free(char **choices)
{
	for (char **choice = choices; choice != NULL && *choice != NULL; choice++)
		free(*choice);
	free(choices);
}

/* Adds the first n bytes of `word`, unless the last choice is the same. */
static bool choices_add(char **choices, uint32_t *count, const char *word, size_t n)
{
	if (*count > 0 && strlen(choices[*count - 1]) == n &&
	    strncmp(choices[*count - 1], word, n) == 0)
		return true;
	choices[*count] = strndup(word, n);
	if (choices[*count] == NULL)
		return false;
	choices[++*count] = NULL;
	return true;
}

/* Adds the words being typed of the phrases that begin as the line does. */
static bool choices_add_phrases(char **choices, uint32_t *count, const char *line)
{
	const char *typed = line + strspn(line, " \t"), *last = strrchr(typed, ' ');
	size_t at = last != NULL ? (size_t)(last + 1 - typed) : 0;

	for (const char *const *phrase = phrases; *phrase != NULL; phrase++)
		if (strncmp(*phrase, typed, strlen(typed)) == 0 &&
		    !choices_add(choices, count, *phrase + at, strcspn(*phrase + at, " ")))
			return false;
	return true;
}

/* Returns the length of the prefix that all choices have in common. */
static size_t choices_common(char *const *choices)
{
	size_t common = strlen(choices[0]);

	for (char *const *choice = choices + 1; *choice != NULL; choice++) {
		size_t i = 0;

		while (i < common && (*choice)[i] == choices[0][i])
			i++;
		common = i;
	}
	return common;
}

/* Returns what the choices have in common beyond the `have` bytes typed, and a blank after a single
 * choice. */
static char *choices_insert(char *const *choices, uint32_t count, size_t have)
{
	size_t common;
	char *insert;

	if (count == 0)
		return strdup("");
	common = choices_common(choices);
	if (common < have)
		common = have;
	if (asprintf(&insert, "%.*s%s", (int)(common - have), choices[0] + have,
	             count == 1 ? " " : "") < 0)
		return NULL;
	return insert;
}

char **shell_candidates(const char *line, const struct scenario *scenario, size_t *start)
{
	struct completion completion;
	uint32_t n = 0;
	char **found;
	bool added;

	if (complete(line, scenario, &completion) != 0)
		return NULL;
	*start = completion.start;
	found = calloc(completion.n + PHRASES, sizeof(*found));
	added = found != NULL;
	for (uint32_t i = 0; i < completion.n && added; i++)
		added = choices_add(found, &n, completion.words[i], strlen(completion.words[i]));
	added = added && choices_add_phrases(found, &n, line);
	complete_release(&completion);
	if (added)
		return found;
	shell_choices_free(found);
	return NULL;
}

int shell_complete(const char *line, size_t cursor, const struct scenario *scenario, char **insert,
                   char ***choices)
{
	char *typed = strndup(line, cursor), **found = NULL;
	uint32_t n = 0;
	size_t start;

	*insert = NULL;
	*choices = NULL;
	if (typed != NULL)
		found = shell_candidates(typed, scenario, &start);
	free(typed);
	if (found == NULL)
		return -ENOMEM;
	while (found[n] != NULL)
		n++;
	*insert = choices_insert(found, n, cursor - start);
	if (n > 1 && *insert != NULL)
		*choices = found;
	else
		shell_choices_free(found);
	return *insert != NULL ? 0 : -ENOMEM;
}
