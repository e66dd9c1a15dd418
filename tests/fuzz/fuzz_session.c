/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the control socket with bytes in pieces. Asserts for every input: each line is answered
 * once; an answer is `ok`, `err NAME: ...`, or in JSON mode one object on one line; the scenario in
 * force is always one that would be accepted whole; cut into other pieces, the same bytes are
 * answered the same.
 *
 * The first byte of the input is the length of the pieces.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "fake_control.h"
#include "language/scenario_check.h"
#include "socket/session.h"

#define INPUT_MAX 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All answers, as one string. */
struct transcript {
	char *text;
	size_t n;
};

static void take(struct session *session, struct transcript *transcript)
{
	const char *output;
	size_t n;

	output = session_output(session, &n);
	transcript->text = realloc(transcript->text, transcript->n + n + 1);
	assert(transcript->text != NULL);
	memcpy(transcript->text + transcript->n, output, n);
	transcript->n += n;
	transcript->text[transcript->n] = '\0';
	session_taken(session, n);
}

/* Returns how many complete lines were taken. */
static size_t converse(const uint8_t *data, size_t size, size_t piece,
                       struct transcript *transcript)
{
	struct problem problem;
	struct session *session;
	size_t lines = 0;
	struct fake fake;

	assert(fake_start(&fake, "port a\nport b\ncloud x from a to b\ncloud y from b to a\n"));
	strcpy(fake.control.run, "0"); /* equal in both conversations, because hello prints it */
	session = session_make(&fake.control);
	assert(session != NULL);
	for (size_t at = 0; at < size && !session_over(session);) {
		size_t n = size - at < piece ? size - at : piece;
		size_t taken = session_feed(session, data + at, n);

		assert(taken <= n);
		for (size_t i = 0; i < taken; i++)
			lines += data[at + i] == '\n';
		at += taken;
		session_wants_push(session);
		take(session, transcript);
	}
	assert(scenario_check(fake.scenario, &problem) == 0);
	session_free(session);
	fake_stop(&fake);
	return lines;
}

/* Returns true if this line ends an answer; asserts that it is well formed. JSON answers begin with
 * a brace; a line that ends a text answer does not. */
static bool ends_answer(const char *line, size_t n, bool *json)
{
	json_t *object;

	if (*json || (n > 6 && memcmp(line, "{\"ok\":", 6) == 0)) {
		object = json_loadb(line, n, 0, NULL);
		assert(json_is_object(object));
		*json = true;
		json_decref(object);
		return true;
	}
	if (n >= 4 && memcmp(line, "err ", 4) == 0) {
		assert(memchr(line, ':', n) != NULL);
		return true;
	}
	return n == 2 && memcmp(line, "ok", 2) == 0;
}

static size_t count_answers(const struct transcript *transcript)
{
	size_t answers = 0;

	for (size_t at = 0; at < transcript->n;) {
		const char *line = transcript->text + at;
		const char *end = memchr(line, '\n', transcript->n - at);
		bool json;

		assert(end != NULL);
		json = line[0] == '{';
		answers += ends_answer(line, (size_t)(end - line), &json);
		at += (size_t)(end - line) + 1;
	}
	return answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transcript whole = {NULL, 0}, pieces = {NULL, 0};
	size_t lines, answers;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	lines = converse(data + 1, size - 1, size, &whole);
	assert(converse(data + 1, size - 1, (size_t)data[0] + 1, &pieces) == lines);
	assert(whole.n == pieces.n && memcmp(whole.text, pieces.text, whole.n) == 0);
	answers = whole.n > 0 ? count_answers(&whole) : 0;
	/* a line that is too long is answered when that is detected, before its end */
	assert(answers == lines || answers == lines + 1);
	free(whole.text);
	free(pieces.text);
	return 0;
}
