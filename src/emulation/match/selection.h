/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of the packets at the place where it begins a cloud takes: what stands behind
 * `cloud NAME from PLACE to PORT`.
 *
 *   [priority N] [match EXPRESSION]
 *
 * A packet goes to the first cloud whose expression it fits: by priority, the lowest first, then in
 * the order of definition. A cloud without `match` takes the rest, whatever its place; there can be
 * one from each place.
 *
 * And behind `clouds NAME from PLACE to PORT per`, for a template, of which there is one cloud an
 * address (template.h):
 *
 *   source|destination PREFIX | flow   [v6 PREFIX] [most N] [priority N] [match EXPRESSION]
 */
#ifndef WEIR_SELECTION_H
#define WEIR_SELECTION_H

#include "match/match.h"
#include "scenario/scenario.h"

#define SELECTION_PRIORITY     100
#define SELECTION_PRIORITY_MAX 65535
#define SELECTION_MOST         65536u /* clouds of a template, for each of its prefixes */
#define SELECTION_MOST_MAX     1048576u

struct selection_conf {
	struct conf conf;
	uint64_t priority;
	char *match; /* or NULL */
	/* of a template */
	char *source, *destination; /* a prefix, or NULL */
	bool flow;
	char *v6;
	uint64_t most; /* 0: not given */
};

/* Not in the table of statements: the language knows them. */
extern const struct statement selection_statement, selection_per_statement;

static inline const struct selection_conf *selection_of(const struct cloud_conf *cloud)
{
	return (const struct selection_conf *)cloud->selection;
}

static inline uint64_t selection_priority(const struct cloud_conf *cloud)
{
	return cloud->selection ? selection_of(cloud)->priority : SELECTION_PRIORITY;
}

/* Whether it takes only some packets: it comes before those that take the rest. */
bool selection_chooses(const struct cloud_conf *cloud);

/* The exact conditions of a cloud that chooses, and the words that are left to a filter, or NULL.
 * 0, or -EINVAL with problem and its letter. */
int selection_rows(const struct cloud_conf *cloud, struct match *rows, bool *exact,
                   const char **filter, struct problem *problem);

/* The words of its `match` that are left to a filter, or NULL. */
const char *selection_filter(const struct selection_conf *selection);
/* Which field of its statement is `match`. */
int selection_match_field(const struct statement *statement);

/* How many clouds a template may have. */
uint32_t selection_most(const struct selection_conf *selection);
/* For statements of which each cloud of a template has so many bytes of its own: -EINVAL with
 * problem if that is more together than SELECTION_COPIES_BYTES. */
#define SELECTION_COPIES_BYTES (UINT64_C(4) << 30)
int selection_check_copies(const struct cloud_conf *cloud, uint64_t bytes, struct problem *problem);

#endif
