/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats answers on the control socket, as text or as JSON (session.h has both forms), into a
 * buffer of bytes that wait to be sent.
 *
 * Thread: any; an output belongs to one.
 */
#ifndef WEIR_ANSWER_H
#define WEIR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "text/alloc_failure.h"

/* Bytes that wait to be sent: bytes[head .. head + n). Initially all zero. */
struct output {
	char *bytes;
	size_t head, n, room;
	bool json;
	bool failed; /* memory ran short; what followed is missing */
};

void output_release(struct output *output);
void output_append(struct output *output, const void *bytes, size_t n);
void output_taken(struct output *output, size_t n);

struct answer_error {
	char name[64];     /* the word, cloud or port concerned; one word */
	const char *code;  /* the kind of error: one of language_error.h, or another such word */
	uint32_t line;     /* of a batch, from 1; 0: no batch */
	uint32_t column;   /* in characters, from 1; 0: the whole line */
	uint64_t resume;   /* the event from which a client can continue; 0: not about events */
	char message[760]; /* one line */
};

/* Returns true if the line, without its newline, is the last of an answer in text mode: `ok`, or
 * `err ...`. */
bool answer_is_end(const char *line, size_t n);

void answer_ok(struct output *output);
/* Answers with a text. JSON: {"ok":true,KEY:TEXT}. Text: as it is, except that lines which look
 * like the end of an answer are preceded by a blank. */
void answer_text(struct output *output, const char *key, const char *text, size_t n);
/* Ends the text, answers with it, and frees it. If there was no memory for it, which is noted
 * (alloc_failure.h), there is no answer: the session says so. */
void answer_printed(struct output *output, const char *key, struct printed *printed);
/* Answers with an object, and releases it; NULL (no memory) answers with an error. For JSON
 * only. */
void answer_object(struct output *output, json_t *object);
/* Sets an error about the whole line, which is no line of a batch. */
void answer_error_set(struct answer_error *error, const char *name, const char *code,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
void answer_error(struct output *output, const struct answer_error *error);

#endif
