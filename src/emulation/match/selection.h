/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which packets of the place where it begins a cloud takes: the words behind `cloud NAME from PLACE
 * to PORT`.
 *
 *   [priority N] [match EXPRESSION]
 *
 * A packet goes to the first cloud whose expression it fits: by priority, the lowest first, then in
 * the order of definition. A cloud without `match` takes the rest, wherever it stands in that
 * order; each place has at most one.
 *
 * For a template, which has one cloud per address (template.h), the words behind `clouds NAME from
 * PLACE to PORT per`:
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

/* Not in the table of statements: the language handles them itself. */
extern const struct statement selection_statement, selection_per_statement;

static inline const struct selection_conf *selection_of(const struct cloud_conf *cloud)
{
	return (const struct selection_conf *)cloud->selection;
}

static inline uint64_t selection_priority(const struct cloud_conf *cloud)
{
	return cloud->selection ? selection_of(cloud)->priority : SELECTION_PRIORITY;
}

/* Returns true if the cloud takes only some packets. It precedes the cloud that takes the rest. */
bool selection_chooses(const struct cloud_conf *cloud);

/* Returns the conditions of a cloud that chooses: if *exact, a packet must fit one of `rows`; if
 * *filter is not NULL, these words go to a filter. Returns 0, or -EINVAL with problem. */
int selection_rows(const struct cloud_conf *cloud, struct match *rows, bool *exact,
                   const char **filter, struct problem *problem);

/* Returns the words of `match` that go to a filter, or NULL. */
const char *selection_filter(const struct selection_conf *selection);
/* Returns the index of the field `match` of the statement. */
int selection_match_field(const struct statement *statement);

/* Returns how many clouds a template may have. */
uint32_t selection_most(const struct selection_conf *selection);
/* Checks a statement that takes `bytes` for each cloud of a template. Returns 0, or -EINVAL with
 * problem if all clouds together take more than SELECTION_COPIES_BYTES. */
#define SELECTION_COPIES_BYTES (UINT64_C(4) << 30)
int selection_check_copies(const struct cloud_conf *cloud, uint64_t bytes, struct problem *problem);

#endif
