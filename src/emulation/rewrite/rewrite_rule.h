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
 *   VALUE     a number, an address (rewrite_value.h), or another FIELD of the same packet
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

#include "account/tally.h"
#include "rewrite/rewrite_place.h"

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

#endif
