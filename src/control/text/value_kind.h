/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control side knows of a field type beside how to parse it: how messages call it, how its
 * values are written.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_KIND_H
#define WEIR_VALUE_KIND_H

#include "text/quantity.h"
#include "scenario/field.h"

struct value_kind {
	const char *a;    /* `a time` */
	const char *kind; /* in a synopsis: `TIME`; "" if it depends on the field, or is nothing */
	const char *written; /* `ns, us, ms or s`; "" without units */
	const char *example; /* the unit that people mostly use */
	/* The lists of units that values may have, ended by NULL. */
	const struct unit *units[4];
};

const struct value_kind *value_kind(enum field_type type);

/* Of what a FIELD_RATES, FIELD_TIMES or FIELD_PROBABILITIES has two. */
enum field_type value_span_of(enum field_type type);

/* The enum limit_unit that belongs to the list value_kind(FIELD_LIMIT)->units[index]. */
enum limit_unit value_limit_unit(int index);

#endif
