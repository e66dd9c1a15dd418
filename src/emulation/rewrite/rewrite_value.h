/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_REWRITE_VALUE_H
#define WEIR_REWRITE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
