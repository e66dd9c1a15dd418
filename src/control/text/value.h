/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of fields, from text and to text, for every enum field_type.
 *
 *   time         1.5us       ns us ms s
 *   rate         10mbit      bit kbit mbit gbit, per second, decimal
 *   bytes        15kB        B kB MB KiB MiB
 *   limit        100pkt      a unit of bytes or of time, or pkt
 *   probability  0.1%        percent, or a plain fraction (0.001, 1e-9)
 *   count        1000        digits only
 *   factor       0.125       a decimal number without a unit
 *   word, switch             one of the field's words; `on` or `off`
 *   IPv4, IPv6               as inet_pton takes them
 *   text                     anything
 *   ratio        1e-18       like a probability; kept as the exact decimal number
 *   range        2..16       two counts, or one for both
 *   numbers      3,4,5       counts; after a comma there may be blanks
 *   words        ip,tcp      some of the field's words
 *   file         a name      the file is read now (file_read.h)
 *   rates, times, probabilities
 *                5mbit..20mbit  two of them
 *   orders, states           statements: orders_text.h; printed here, read by the parser of lines
 *
 * Decimal fractions are exact: a value is a whole number of its base unit (ns, bit/s, byte,
 * packet), and a finer one is refused. A probability becomes the nearest multiple of 2^-63.
 *
 * Printed text is canonical: the shortest that parses back to the same value and does not begin
 * with `0.` (so 100ms, not 0.1s). Among texts of equal length, one without a fraction wins, then
 * the one in the larger unit. A probability is printed in percent with as few digits as parse back
 * to the same value, below 0.0001 % as a power of ten.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_H
#define WEIR_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario/field.h"
#include "text/language_error.h"
#include "text/quantity.h"

/* Parses `text` and writes the member of `conf` at the field's offset; what the member owned before
 * is freed. Not for FIELD_FLAG, FIELD_ORDERS and FIELD_STATES. Returns 0, or -EINVAL or -ENOMEM
 * with error (except its column), and then `conf` is unchanged. */
int value_parse(const struct field *field, const char *text, void *conf,
                struct language_error *error);
/* Prints the member of `conf` at the field's offset. A FIELD_TEXT is quoted if it must be; a
 * FIELD_FLAG prints nothing. */
void value_print(FILE *out, const struct field *field, const void *conf);
/* Prints a number of the field's type as value_print does, for ranges, defaults and reports. `room`
 * of 48 is always enough. A FIELD_LIMIT is taken to be in bytes. */
void value_print_number(enum field_type type, uint64_t value, char *out, size_t room);

/* Prints what stands in a synopsis: the field's form, or TIME, RATE, `on|off`... For FIELD_WORD,
 * its words. */
void value_print_kind(FILE *out, const struct field *field);

/* Parses a whole number that is no field, such as the seed. */
int value_parse_count(const char *text, uint64_t min, uint64_t max, const char *what,
                      uint64_t *value, struct language_error *error);

/*
 * What control needs of a field type besides its parser: its name in messages, and how its values
 * are written.
 */

struct value_kind {
	const char *name;    /* for programs: `time` */
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

/* Returns the type of each end of a FIELD_RANGE, _RATES, _TIMES or _PROBABILITIES. */
enum field_type value_span_of(enum field_type type);

/* Returns the enum limit_unit of the list value_kind(FIELD_LIMIT)->units[index]. */
enum limit_unit value_limit_unit(int index);

/*
 * Values of several parts: ranges, and lists with commas. A list may have blanks after a comma;
 * code that splits a line into words must join the parts of a list first (value_list_goes_on).
 */

/* Returns true if a value that has `text` so far continues in the next word. */
bool value_list_goes_on(const struct field *field, const char *text);

#endif
