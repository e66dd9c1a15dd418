/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rule of `rewrite`, as text and as a program.
 *
 *   [match FIELD[&MASK] COMPARE VALUE ...] ACTION ...
 *
 *   FIELD     a name of rewrite_field.h, or LAYER+OFFSET:WIDTH, WIDTH being 1, 2, 4 or 8
 *   COMPARE   = != < > <= >=, of the field's bits under the mask
 *   ACTION    set FIELD[&MASK] VALUE ...    the field becomes the value
 *             min FIELD[&MASK] VALUE ...    the smaller of field and value
 *             max FIELD[&MASK] VALUE ...    the greater of both
 *             add FIELD[&MASK] VALUE ...    the sum, modulo the size of the field
 *             random FIELD[&MASK] [FROM..TO] ...
 *   VALUE     a number, an address, or another FIELD of the same packet
 *
 * All comparisons must hold; a rule without `match` applies to all packets. Blanks around signs are
 * optional. Bits outside a mask stay as they are. A value is given in the position of the mask's
 * bits, and is not shifted into them. An address with a length (10.0.0.0/8) compares that many
 * bits.
 *
 * Ownership: free().
 * Thread: control.
 */
#ifndef WEIR_REWRITE_RULE_H
#define WEIR_REWRITE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/tally.h"
#include "rewrite/rewrite_field.h"

#define REWRITE_STEPS_MAX 32 /* comparisons and actions of a rule; a field of 16 bytes takes two */

enum rewrite_op {
	/* comparisons; one with a value is always one of the first two: `value` to `value +
	 * span` */
	REWRITE_INSIDE,
	REWRITE_OUTSIDE,
	REWRITE_EQUAL,
	REWRITE_UNEQUAL,
	REWRITE_LESS,
	REWRITE_MORE,
	REWRITE_NOT_MORE,
	REWRITE_NOT_LESS,
	/* actions */
	REWRITE_SET,
	REWRITE_MIN,
	REWRITE_MAX,
	REWRITE_ADD,
	REWRITE_RANDOM,       /* any value */
	REWRITE_RANDOM_RANGE, /* from `value` to `value + span` */
};

struct rewrite_step {
	struct rewrite_place place;
	uint64_t value, span;
	uint8_t op;
	uint8_t summed;              /* enum rewrite_summed of an action */
	struct rewrite_place source; /* the other field; width 0: `value` is used */
};

/* A short way for a rule that does nothing but set a part of one word of the IPv4 header to a
 * constant, in a word that only the header's checksum covers. */
struct rewrite_word {
	uint16_t mask; /* 0: another kind of rule */
	uint16_t value;
	uint8_t at; /* offset in the header */
};

struct rewrite_rule {
	uint32_t number;     /* of the rule in its cloud */
	struct tally *tally; /* of its configuration; NULL: none */
	uint16_t n_terms;    /* the first steps are comparisons, the others actions */
	uint16_t n_steps;
	bool moves; /* may change where the layers of the packet are */
	struct rewrite_word word;
	struct rewrite_step step[];
};

struct problem;

/* Makes a rule from its text. Returns 0, -ENOMEM, or -EINVAL with `problem` about field 0 and the
 * position in the text. */
int rewrite_rule_make(const char *text, struct rewrite_rule **rule, struct problem *problem);

/*
 * Reads the text of a rule: its words, fields and values (the grammar is above). Each
 * function reads what begins at the reader's token and advances behind it, or reports an error
 * there.
 *
 * Ownership: a reader points into its text.
 * Thread: control.
 */

/*
 * Values as a rule has them:
 *
 *   46, 0x2e, -1                  numbers
 *   192.0.2.1, 192.0.2.0/24       IPv4 addresses: 32 bits
 *   02:00:00:00:00:01             Ethernet addresses: 48 bits
 *   2001:db8::1, 2001:db8::/32    IPv6 addresses: 128 bits
 *
 * Thread: pure functions, any.
 */

enum rewrite_value_kind { VALUE_NUMBER, VALUE_IPV4, VALUE_ETHERNET, VALUE_IPV6 };

struct rewrite_value {
	enum rewrite_value_kind kind;
	bool negative;   /* a number below 0; `low` is its absolute value */
	bool has_prefix; /* an address followed by a length */
	uint8_t prefix;  /* length in bits; all bits if none is given */
	uint64_t high;   /* upper half of 128 bits, else 0 */
	uint64_t low;
};

/* Returns true if the text looks like a value, and not like the name of a field. */
bool rewrite_value_is(const char *text, size_t bytes);
/* Returns false if the text is none of the above, or a number that does not fit 64 bits. */
bool rewrite_value_read(const char *text, size_t bytes, struct rewrite_value *value);
/* Reads a whole number, decimal or 0x, at the beginning of the text. Returns the number of bytes
 * that it takes, 0 if there is none. */
size_t rewrite_number_read(const char *text, size_t bytes, uint64_t *number);

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
