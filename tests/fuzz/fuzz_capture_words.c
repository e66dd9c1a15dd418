/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the words of `capture` and `trace`. Asserts for every line: it is accepted, or there is an
 * error with a name, a text and a position in the line; an accepted line respects the bounds; the
 * line that is sent to the emulator is a single one, is accepted there, and requests the same.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/fate_ring.h"
#include "fates/capture_words.h"

#define INPUT_MAX 5000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_wrong(const struct language_error *error)
{
	assert(error->name != NULL && error->text[0] != '\0');
	assert(word_is_text(error->text));
	assert(error->column <= LINE_BYTES_MAX + 2);
}

static void assert_bounds(const struct capture_words *capture)
{
	assert(word_is_name(capture->target));
	assert(capture->points != 0 && (capture->points & ~POINTS_ALL) == 0);
	assert(capture->snap >= 1 && capture->snap <= FATE_SNAP_MAX);
	assert(capture->matches == (capture->match[0] != '\0'));
	assert(strlen(capture->match) <= FILTER_BYTES_MAX);
}

/* Asserts that the emulator parses the line it is sent to the same request. */
static void assert_sent(const struct capture_words *asked)
{
	struct language_error error = {.name = NULL};
	struct capture_words *heard = malloc(sizeof(*heard));
	struct words *words = malloc(sizeof(*words));
	char line[CAPTURE_LINE_BYTES];

	assert(heard && words);
	capture_words_line(asked, line, sizeof(line));
	assert(words_split(line, words, &error) == 0);
	assert(capture_words_parse(words, false, heard, &error) == 0);
	assert(strcmp(heard->target, asked->target) == 0);
	assert(heard->points == asked->points && heard->snap == asked->snap);
	assert(heard->matches == asked->matches && strcmp(heard->match, asked->match) == 0);
	free(words);
	free(heard);
}

static void parse(const struct words *words, int form)
{
	struct capture_words *capture = malloc(sizeof(*capture));
	struct language_error error = {.name = NULL};
	int result;

	assert(capture);
	result = form == 2 ? capture_words_trace(words, capture, &error)
	                   : capture_words_parse(words, form == 1, capture, &error);
	if (result != 0)
		assert_wrong(&error);
	else
		assert_bounds(capture);
	if (result == 0)
		assert_sent(capture);
	free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct language_error error = {.name = NULL};
	struct words *words;
	char *line;

	if (size > INPUT_MAX)
		return 0;
	line = malloc(size + 1);
	words = malloc(sizeof(*words));
	assert(line && words);
	memcpy(line, data, size);
	line[size] = '\0';
	if (words_split(line, words, &error) == 0 && words->n > 0) {
		for (int form = 0; form < 3; form++)
			parse(words, form);
	}
	free(words);
	free(line);
	return 0;
}
