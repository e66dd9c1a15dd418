/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of a netem line (netem.h), one by one: the values behind each word, in tc's units.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_NETEM_PARAMETER_H
#define WEIR_NETEM_PARAMETER_H

#include "netem/netem.h"

struct netem_parser {
	const struct words *words;
	uint32_t at; /* the next word */
	struct netem *netem;
	struct language_error *error;
};

struct netem_parameter {
	const char *name;
	/* Parses what follows the word, which stands at that column. Returns 0, or -EINVAL with
	 * error and column. */
	int (*parse)(struct netem_parser *p, uint32_t column);
};

/* In the order in which tc compares them, ended by NULL. */
extern const struct netem_parameter netem_parameters[];

#endif
