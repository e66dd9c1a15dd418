/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers on the control socket, as text or as JSON (session.h has the form of both), into a buffer
 * of bytes that wait to be sent.
 *
 * Thread: control's.
 */
#ifndef WEIR_ANSWER_H
#define WEIR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Bytes that wait to be sent: bytes[head .. head + n). All zero at first. */
struct output {
	char *bytes;
	size_t head, n, room;
	bool json;
	bool failed; /* there was no memory; what followed is missing */
};

void output_release(struct output *output);
void output_append(struct output *output, const void *bytes, size_t n);
/* Takes back what came behind the first n bytes that wait. */
void output_shorten(struct output *output, size_t n);
void output_taken(struct output *output, size_t n);
/* Appends what waits in the other, which is empty then. */
void output_adopt(struct output *output, struct output *from);

struct answer_error {
	const char *name; /* of the word, cloud or port concerned; one word */
	const char *code; /* what kind of error: those of language_error.h, or another such word */
	uint32_t line;    /* of a batch, from 1; 0: not of a batch */
	uint32_t column;  /* in characters, from 1; 0: the whole line */
	const char *message; /* one line */
	uint64_t resume;     /* the event from which a client may go on; 0: it is not about that */
};

void answer_ok(struct output *output);
/* JSON: {"ok":true,KEY:TEXT}. Text: as it is, lines that read as the end of an answer set off. */
void answer_text(struct output *output, const char *key, const char *text, size_t n);
/* Only for JSON. The object is given back; NULL (no memory) answers an error. */
void answer_object(struct output *output, json_t *object);
void answer_error(struct output *output, const struct answer_error *error);

#endif
