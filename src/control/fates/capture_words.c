/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/capture_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/fate_ring.h"
#include "text/language_error.h"
#include "text/value.h"

/* Bytes of a frame that a trace needs to describe it. */
#define TRACE_SNAP 128

/* Where the next word is parsed. */
struct reader {
	const struct words *words;
	uint32_t at;
	bool client;
	struct capture_words *capture;
	struct language_error *error;
};

static bool at_end(const struct reader *reader)
{
	return reader->at == reader->words->n;
}

/* Makes the error point at the next word. */
static void point_at(struct reader *reader)
{
	reader->error->column = words_column(reader->words, reader->at);
}

static int missing(struct reader *reader, const char *what)
{
	point_at(reader);
	return language_error_set(reader->error, ERROR_MISSING_WORD, "%s is missing here", what);
}

static int take_target(struct reader *reader, const char *command)
{
	const struct word *word = &reader->words->word[reader->at];

	if (at_end(reader)) {
		point_at(reader);
		return language_error_set(reader->error, ERROR_MISSING_WORD,
		                          "the name of a cloud or a port, or `all`, is missing "
		                          "here: %s down",
		                          command);
	}
	point_at(reader);
	if (!word_is_name(word->text))
		return language_error_set(
		        reader->error, ERROR_BAD_NAME,
		        "`%.*s` is neither the name of a cloud or a port, nor `all`",
		        SHOWN(word->text));
	snprintf(reader->capture->target, sizeof(reader->capture->target), "%s", word->text);
	reader->capture->target_column = word->column;
	reader->at++;
	return 0;
}

/* Takes one point of a list such as `in,drops`. */
static int take_point(struct reader *reader, const char *name, size_t n)
{
	for (int i = 0; i < POINT_COUNT; i++) {
		const char *point = point_name((enum point)i);

		if (strlen(point) == n && memcmp(point, name, n) == 0) {
			reader->capture->points |= 1u << i;
			return 0;
		}
	}
	/* A long name is cut between two characters. */
	if (n > (size_t)language_error_shown(name))
		n = (size_t)language_error_shown(name);
	return language_error_set(reader->error, ERROR_UNKNOWN_WORD,
	                          "`%.*s` is not a point; the points are in, queue, drops, "
	                          "out, sent and stages, separated by commas",
	                          (int)n, name);
}

/* The way in which `weir ctl explain` asks for what it needs. */
#define POINT_EXPLAIN "explain"

static int take_points(struct reader *reader)
{
	const char *text = reader->words->word[reader->at].text;
	int result = 0;

	point_at(reader);
	reader->capture->points = 0;
	while (result == 0) {
		size_t n = strcspn(text, ",");

		result = take_point(reader, text, n);
		text += n;
		if (*text != ',')
			break;
		text++;
	}
	reader->at++;
	return result;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Returns true if the next word is not part of an expression. */
static bool ends_match(const struct reader *reader)
{
	const struct word *word = &reader->words->word[reader->at];

	return at_end(reader) || words_is(reader->words, reader->at, "snap") ||
	       words_is(reader->words, reader->at, "for") ||
	       words_is(reader->words, reader->at, "-o") ||
	       (is_number(word->text) && words_is(reader->words, reader->at + 1, "packets"));
}

static int take_match(struct reader *reader)
{
	struct capture_words *capture = reader->capture;
	size_t used = 0;

	if (capture->matches)
		return language_error_set(
		        reader->error, ERROR_DUPLICATE_WORD,
		        "`match` was given already; join two expressions by `and`");
	reader->at++;
	while (!ends_match(reader)) {
		const char *text = reader->words->word[reader->at].text;
		size_t n = strlen(text), gap = used > 0;

		if (used + gap + n > FILTER_BYTES_MAX) {
			point_at(reader);
			return language_error_set(reader->error, ERROR_TOO_LONG,
			                          "an expression has at most %d bytes",
			                          FILTER_BYTES_MAX);
		}
		if (used > 0)
			capture->match[used++] = ' ';
		memcpy(capture->match + used, text, n + 1);
		used += n;
		reader->at++;
	}
	capture->matches = used > 0;
	return used > 0 ? 0 : missing(reader, "an expression, like `tcp port 80`,");
}

static int take_count(struct reader *reader, uint64_t max, const char *what, uint64_t *count)
{
	if (at_end(reader))
		return missing(reader, "a number");
	point_at(reader);
	if (value_parse_count(reader->words->word[reader->at].text, 1, max, what, count,
	                      reader->error) != 0)
		return -EINVAL;
	reader->at++;
	return 0;
}

static int unknown(struct reader *reader, const char *known)
{
	const char *text = reader->words->word[reader->at].text;

	point_at(reader);
	return language_error_set(reader->error, ERROR_UNKNOWN_WORD,
	                          "unknown word `%.*s`; what may follow here is %s", SHOWN(text),
	                          known);
}

static int take_option(struct reader *reader)
{
	const char *text = reader->words->word[reader->at].text;

	point_at(reader);
	if (words_is(reader->words, reader->at, "match"))
		return take_match(reader);
	if (words_is(reader->words, reader->at, "snap")) {
		uint64_t snap = 0;
		int result;

		reader->at++;
		result = take_count(reader, FATE_SNAP_MAX, "snap", &snap);
		reader->capture->snap = (uint32_t)snap;
		return result;
	}
	if (reader->client && words_is(reader->words, reader->at, "for")) {
		const struct field field = {
		        .name = "for", .type = FIELD_TIME, .min = 1, .max = UINT64_C(1) << 62};

		reader->at++;
		if (at_end(reader))
			return missing(reader, "a time, like 10s,");
		point_at(reader);
		if (value_parse(&field, reader->words->word[reader->at].text,
		                &reader->capture->for_ns, reader->error) != 0)
			return -EINVAL;
		reader->at++;
		return 0;
	}
	if (reader->client && words_is(reader->words, reader->at, "-o")) {
		reader->at++;
		if (at_end(reader))
			return missing(reader, "a file, or - for standard output,");
		if (snprintf(reader->capture->output, sizeof(reader->capture->output), "%s",
		             reader->words->word[reader->at].text) >=
		    (int)sizeof(reader->capture->output))
			return language_error_set(reader->error, ERROR_TOO_LONG,
			                          "the name is too long");
		reader->at++;
		return 0;
	}
	if (reader->client && is_number(text) &&
	    words_is(reader->words, reader->at + 1, "packets")) {
		int result = take_count(reader, INT64_MAX, "packets", &reader->capture->packets);

		reader->at++;
		return result;
	}
	return unknown(reader, reader->client ? "points (in,queue,drops,out), `match`, `snap`, "
	                                        "`for TIME`, `N packets` or `-o FILE`"
	                                      : "points (in,queue,drops,out), `match` or `snap`");
}

static void begin(struct reader *reader, const struct words *words, struct capture_words *capture,
                  struct language_error *error)
{
	*reader = (struct reader){.words = words, .at = 1, .capture = capture, .error = error};
	memset(capture, 0, sizeof(*capture));
	capture->points = POINTS_DEFAULT;
	capture->snap = FATE_SNAP_MAX;
}

int capture_words_parse(const struct words *words, bool client, struct capture_words *capture,
                        struct language_error *error)
{
	struct reader reader;
	int result;

	begin(&reader, words, capture, error);
	reader.client = client;
	result = take_target(&reader, "capture");
	if (result == 0 && !at_end(&reader) && !words_is(words, reader.at, "match") &&
	    !words_is(words, reader.at, "snap") && !words_is(words, reader.at, "for") &&
	    !words_is(words, reader.at, "-o") && !words_is(words, reader.at + 1, "packets")) {
		capture->explains = !client && words_is(words, reader.at, POINT_EXPLAIN);
		if (capture->explains)
			reader.at++;
		else
			result = take_points(&reader);
	}
	while (result == 0 && !at_end(&reader))
		result = take_option(&reader);
	return result;
}

int capture_words_trace(const struct words *words, struct capture_words *capture,
                        struct language_error *error)
{
	struct reader reader;
	int result = 0;

	begin(&reader, words, capture, error);
	capture->points = POINTS_OF_CLOUDS;
	capture->snap = TRACE_SNAP;
	snprintf(capture->target, sizeof(capture->target), "%s", CAPTURE_ALL);
	if (!words_is(words, 1, "next"))
		result = take_target(&reader, "trace");
	if (result == 0 && !words_is(words, reader.at, "next")) {
		point_at(&reader);
		return language_error_set(error, ERROR_MISSING_WORD,
		                          "`next N` is missing here: trace down next 3");
	}
	reader.at++;
	if (result == 0)
		result = take_count(&reader, CAPTURE_TRACE_PACKET, "next", &capture->packets);
	if (result == 0 && !at_end(&reader) && words_is(words, reader.at, "match"))
		result = take_match(&reader);
	if (result == 0 && !at_end(&reader)) {
		point_at(&reader);
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "what may follow here is `match EXPRESSION`");
	}
	return result;
}

int capture_words_explain(const struct words *words, struct capture_words *capture,
                          struct language_error *error)
{
	struct reader reader;
	int result = 0;

	begin(&reader, words, capture, error);
	reader.client = true;
	capture->explains = true;
	snprintf(capture->target, sizeof(capture->target), "%s", CAPTURE_ALL);
	if (!at_end(&reader) && !words_is(words, 1, "match") && !words_is(words, 1, "for") &&
	    !words_is(words, 1, "-o"))
		result = take_target(&reader, "explain");
	while (result == 0 && !at_end(&reader)) {
		if (!words_is(words, reader.at, "match") && !words_is(words, reader.at, "for") &&
		    !words_is(words, reader.at, "-o"))
			return unknown(&reader, "`match`, `for TIME` or `-o FILE`");
		result = take_option(&reader);
	}
	return result;
}

void capture_words_line(const struct capture_words *capture, char *line, size_t room)
{
	FILE *out = fmemopen(line, room, "w");
	const char *gap = " ";

	line[0] = '\0';
	if (!out)
		return;
	fprintf(out, "capture %s", capture->target);
	if (capture->explains)
		fputs(" " POINT_EXPLAIN, out);
	for (int i = 0; !capture->explains && i < POINT_COUNT; i++) {
		if (!(capture->points & (1u << i)))
			continue;
		fprintf(out, "%s%s", gap, point_name((enum point)i));
		gap = ",";
	}
	if (capture->matches) {
		fputs(" match ", out);
		word_print(out, capture->match, true);
	}
	fprintf(out, " snap %u", capture->snap);
	fclose(out);
}
