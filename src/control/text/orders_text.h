/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statements inside a statement (orders.h), from words and to words:
 *
 *   ORDERS   ORDER [and ORDER...]
 *   ORDER    STATEMENT [VARIANT] [NUMBER] FIELDS... | no STATEMENT
 *   STATES   STATE then STATE [then STATE...]
 *   STATE    NAME TIME [to NAME P [NAME P...]] [ORDERS]
 *
 * `and`, `then` and `no` between quotes are words of a value. Not allowed inside are: a schedule, a
 * class or a statement of a class, a property of the cloud itself, and a statement that generates
 * packets.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ORDERS_TEXT_H
#define WEIR_ORDERS_TEXT_H

#include <stdio.h>

#include "text/word.h"
#include "scenario/orders.h"

/* Returns true if a statement is allowed inside another. */
bool orders_can_change(const struct statement *row);

/* Parses words[at...], to the end of the line. Returns 0, or -EINVAL or -ENOMEM with error and
 * column; then there is nothing to clear. */
int orders_parse(const struct words *words, uint32_t at, struct orders *orders,
                 struct language_error *error);
void orders_print(FILE *out, const struct orders *orders);

int states_parse(const struct words *words, uint32_t at, struct states *states,
                 struct language_error *error);
void states_print(FILE *out, const struct states *states);

#endif
