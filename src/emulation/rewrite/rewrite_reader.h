/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the text of a rule: its words, fields and values (rewrite_rule.h has the grammar). Each
 * function takes what stands at the reader's token and goes on behind it, or says what is wrong
 * there.
 *
 * Ownership: a reader points into its text. Thread: control.
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
	struct rewrite_token token; /* the one that is looked at */
	struct problem *problem;
	struct rewrite_rule *rule; /* what the text becomes; not looked at here */
};

/* A field as it is written, and where. */
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

/* For "%.*s": as much of a token as a message shows. */
#define REWRITE_SHOWN(token) (int)((token).bytes < 40 ? (token).bytes : 40), (token).text

/* The next token: a word, `&`, or a sign of comparison. */
void rewrite_next(struct rewrite_reader *reader);
bool rewrite_token_is(struct rewrite_token token, const char *word);

/* Says what is wrong, and where. Returns -EINVAL. */
int rewrite_wrong(struct rewrite_reader *reader, struct rewrite_token token, const char *format,
                  ...) __attribute__((format(__printf__, 3, 4)));

/* FIELD[&MASK]. 0 or -EINVAL. */
int rewrite_read_field(struct rewrite_reader *reader, struct rewrite_written *written);

/* A value that fits the field, or another field. A field of 16 bytes goes only with an IPv6 address
 * or another such field. 0 or -EINVAL. */
int rewrite_read_operand(struct rewrite_reader *reader, const struct rewrite_written *written,
                         bool negative_fits, struct rewrite_operand *operand);

#endif
