/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What control needs of a field type besides its parser: its name in messages, and how its values
 * are written.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_KIND_H
#define WEIR_VALUE_KIND_H

#include "text/quantity.h"
#include "scenario/field.h"

struct value_kind {
	const char *a;       /* `a time` */
	const char *kind;    /* in a synopsis: `TIME`; "": none, or the field's own */
	const char *written; /* `ns, us, ms or s`; "" if there are no units */
	const char *example; /* the unit that most people use */
	/* The lists of units for such values, ended by NULL. */
	const struct unit *units[4];
};

const struct value_kind *value_kind(enum field_type type);

/* How the units of a field's values are written, and one of them. A FIELD_LIMIT whose `form` names
 * some of SIZE, Npkt and TIME takes these only. */
struct value_units {
	char written[80];
	const char *example;
};
struct value_units value_units(const struct field *field);

/* Returns the type of each end of a FIELD_RATES, FIELD_TIMES or FIELD_PROBABILITIES. */
enum field_type value_span_of(enum field_type type);

/* Returns the enum limit_unit of the list value_kind(FIELD_LIMIT)->units[index]. */
enum limit_unit value_limit_unit(int index);

#endif
