/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a line of netem (netem.h) into weir's own statements.
 *
 *   delay T J C, distribution D   delay T jitter J distribution D correlation C order allow
 *   limit L                       of the delay: delay ... limit Lpkt
 *   loss, ecn                     loss random, four-state or gilbert-elliott, perhaps with `ecn`
 *   corrupt, duplicate            corrupt random, duplicate random
 *   reorder P C gap N             reorder P C gap N
 *   rate R P S O, limit L         rate R overhead P cell S cell-overhead O queue Lpkt
 *   slot MIN MAX packets N bytes B    slots min MIN max MAX packets N bytes B
 *   seed N                        seed N, of the whole scenario
 *
 * Where netem's recurrence differs from what the line says, weir does what the line says, and a
 * remark gives both figures; `exact` keeps the recurrence (`as-netem`), and the remark gives its
 * result. Statements that netem has and the line lacks are removed from the cloud: the line is all
 * that netem would do.
 *
 * Ownership: netem_release.
 * Thread: control.
 */
#ifndef WEIR_NETEM_BECOME_H
#define WEIR_NETEM_BECOME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/language_error.h"
#include "text/word.h"
#include "scenario/scenario.h"

#define NETEM_STATEMENTS_MAX 8

struct netem_result {
	struct conf *conf[NETEM_STATEMENTS_MAX]; /* in the order in which a packet meets them */
	uint32_t column[NETEM_STATEMENTS_MAX];   /* of the parameter it comes from */
	uint32_t n;
	uint32_t seed_column; /* 0: no seed */
	uint64_t seed;
	char *remarks; /* a line each; "" if there are none */
};

/* Converts words[at...], which follow `netem` or, if `exact`, `netem-exact`. Returns 0, or -EINVAL
 * or -ENOMEM with error and column, and then there is nothing to release. */
int netem_become(const struct words *words, uint32_t at, bool exact, struct netem_result **result,
                 struct language_error *error);
void netem_release(struct netem_result *result);

/* The names of the statements that a line of netem determines, ended by NULL. */
extern const char *const netem_statements[];
/* Returns the column of the parameter that a statement comes from; 0 if there is no such
 * statement. */
uint32_t netem_column(const struct netem_result *result, const char *statement);
/* Prints the seed if there is one, `cloud NAME STATEMENT` in a line each, then the remarks as
 * comments; `word` is `cloud` or `clouds`. */
void netem_print(FILE *out, const struct netem_result *result, const char *word, const char *cloud);

#endif
