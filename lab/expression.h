/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simple arithmetic on measured figures: numbers, names, + - * / and parentheses. A name is
 * letters, digits, `.`, `_` and `-` and begins with a letter, so a minus needs a blank before it:
 * `becn.bottleneck.loss / ecn.bottleneck.loss`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LAB_EXPRESSION_H
#define WEIR_LAB_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* The values of names. `find` returns false if there is no such figure. */
struct figures {
	bool (*find)(void *argument, const char *name, double *value);
	void *argument;
};

/* Computes the value. Returns 0, or -EINVAL with message. A division by 0 yields what IEEE 754
 * says. */
int expression_value(const char *text, const struct figures *figures, double *value, char *message,
                     size_t room);

#endif
