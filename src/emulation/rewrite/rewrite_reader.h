/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the text of a rule: its words, fields and values (rewrite_rule.h has the grammar). Each
 * function reads what begins at the reader's token and advances behind it, or reports an error
 * there.
 *
 * Ownership: a reader points into its text.
 * Thread: control.
 */
#ifndef WEIR_REWRITE_READER_H
#define WEIR_REWRITE_READER_H

#include "rewrite/rewrite_place.h"
#include "rewrite/rewrite_value.h"

struct problem;
struct rewrite_rule;

struct rewrite_token {
	const char *text;
	size_t bytes; /* 0: the end */
};

struct rewrite_reader {
	const char *begin, *at;
	struct rewrite_token token; /* the current one */
	struct problem *problem;
	struct rewrite_rule *rule; /* the result; not used here */
};

/* A field as the text has it, and where. */
struct rewrite_written {
	struct rewrite_token token;
	struct rewrite_place place[2];
	bool pair, masked;
};

/* A value or another field, and where. */
struct rewrite_operand {
	struct rewrite_token token;
	bool is_field;
	struct rewrite_written field;
	struct rewrite_value value;
};

/* For "%.*s": the part of a token that a message shows. */
#define REWRITE_SHOWN(token) (int)((token).bytes < 40 ? (token).bytes : 40), (token).text

/* Advances to the next token: a word, `&`, or a sign of comparison. */
void rewrite_next(struct rewrite_reader *reader);
bool rewrite_token_is(struct rewrite_token token, const char *word);

/* Sets the problem at a token. Returns -EINVAL. */
int rewrite_wrong(struct rewrite_reader *reader, struct rewrite_token token, const char *format,
                  ...) __attribute__((format(__printf__, 3, 4)));

/* Reads FIELD[&MASK]. Returns 0 or -EINVAL. */
int rewrite_read_field(struct rewrite_reader *reader, struct rewrite_written *written);

/* Reads a value that fits the field, or another field. A field of 16 bytes takes only an IPv6
 * address or another field of 16 bytes. Returns 0 or -EINVAL. */
int rewrite_read_operand(struct rewrite_reader *reader, const struct rewrite_written *written,
                         bool negative_fits, struct rewrite_operand *operand);

#endif
