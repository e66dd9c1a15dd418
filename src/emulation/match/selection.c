/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/selection.h"

#include <errno.h>
#include <string.h>

enum { PER_SOURCE, PER_DESTINATION, PER_FLOW, PER_V6, PER_MOST, PER_PRIORITY, PER_MATCH };

#define FIELD_PRIORITY_ROW                                                                         \
	{                                                                                          \
		FIELD("priority", FIELD_COUNT, struct selection_conf, priority,                    \
		      .max = SELECTION_PRIORITY_MAX, .initial = SELECTION_PRIORITY,                \
		      .help = "order in which clouds are tried: the lowest first")                 \
	}
#define FIELD_MATCH_ROW                                                                            \
	{                                                                                          \
		FIELD("match", FIELD_TEXT, struct selection_conf, match, .flags = FIELD_REST,      \
		      .help = "the packets that it takes, in tcpdump's words; all if not given")   \
	}

static const struct field selection_fields[] = {
        FIELD_PRIORITY_ROW,
        FIELD_MATCH_ROW,
        FIELD_END,
};

static const struct field per_fields[] = {
        [PER_SOURCE] = {FIELD("source", FIELD_TEXT, struct selection_conf, source,
                              .help = "a cloud for each source address in this prefix")},
        [PER_DESTINATION] = {FIELD("destination", FIELD_TEXT, struct selection_conf, destination,
                                   .help = "a cloud for each destination address in this prefix")},
        [PER_FLOW] = {FIELD(
                "flow", FIELD_FLAG, struct selection_conf, flow,
                .help = "a cloud for each combination of addresses, protocol and ports")},
        [PER_V6] = {FIELD("v6", FIELD_TEXT, struct selection_conf, v6,
                          .help = "and for each address in this IPv6 prefix")},
        [PER_MOST] = {FIELD(
                "most", FIELD_COUNT, struct selection_conf, most, .min = 1,
                .max = SELECTION_MOST_MAX,
                .help = "maximum number of clouds at a time; if not given, one per address, "
                        "up to 65536 for each prefix")},
        [PER_PRIORITY] = FIELD_PRIORITY_ROW,
        [PER_MATCH] = FIELD_MATCH_ROW,
        FIELD_END,
};

static int check_match(const char *words, int field, struct problem *problem)
{
	struct match match;
	int own;

	if (!words || match_parse(words, &match)) {
		if (!words || match.n > 0)
			return 0;
		return problem_set(problem, field,
		                   "`match %s` contradicts itself: no packet fits it", words);
	}
	own = match_own_word(words);
	if (own < 0)
		return 0; /* the filter reports errors */
	problem_set(problem, field,
	            "`dscp` and a number from 0 to 63 can be joined to other conditions by `and` "
	            "only, and those must be simple: addresses, port, protocol, vlan");
	problem->letter = (uint32_t)own;
	return -EINVAL;
}

static int selection_check(const struct conf *conf, const struct cloud_conf *cloud,
                           struct problem *problem)
{
	(void)cloud;
	return check_match(((const struct selection_conf *)conf)->match, 1, problem);
}

static int check_prefix(const char *text, bool source, bool only_v6, int field,
                        struct problem *problem)
{
	struct match_row row;

	if (!text)
		return 0;
	if (!match_prefix(text, source, &row))
		return problem_set(
		        problem, field,
		        "`%.60s` is not a prefix; write one like %s, without bits set beyond "
		        "its length",
		        text, only_v6 ? "2001:db8::/112" : "10.0.0.0/16 or 2001:db8::/112");
	if (only_v6 && row.value.family != 6)
		return problem_set(problem, field,
		                   "`%.60s` is not an IPv6 prefix, like 2001:db8::/112", text);
	return 0;
}

/* Returns the rows of a template's prefixes. */
static void prefix_rows(const struct selection_conf *per, struct match *rows)
{
	bool source = per->source != NULL;
	const char *texts[] = {source ? per->source : per->destination, per->v6};

	rows->n = 0;
	for (int i = 0; i < 2; i++) {
		if (texts[i] && match_prefix(texts[i], source, &rows->rows[rows->n]))
			rows->n++;
	}
}

/* Replaces `rows` by those that fit a row of each. Returns 0, or -EINVAL with `problem` if
 * these are too many. */
static int rows_join(struct match *rows, const struct match *with, struct problem *problem)
{
	struct match both = {0};

	for (uint32_t i = 0; i < rows->n; i++) {
		for (uint32_t k = 0; k < with->n; k++) {
			if (both.n == MATCH_ROWS_MAX)
				return problem_set(
				        problem, -1,
				        "the expression is too long: give each side its own "
				        "`src` or `dst`");
			if (match_row_both(&rows->rows[i], &with->rows[k], &both.rows[both.n]))
				both.n++;
		}
	}
	*rows = both;
	return 0;
}

/* Checks that packets can fit the prefixes and `match` of a template. */
static int check_both(const struct selection_conf *per, struct problem *problem)
{
	struct match rows, match;

	if (per->flow || !per->match || !match_parse(per->match, &match))
		return 0;
	prefix_rows(per, &rows);
	if (rows_join(&rows, &match, problem))
		return -EINVAL;
	if (rows.n > 0)
		return 0;
	return problem_set(problem, PER_MATCH,
	                   "`match %s` contradicts `%s %s`: no packet fits both", per->match,
	                   per->source ? "source" : "destination",
	                   per->source ? per->source : per->destination);
}

static int per_check(const struct conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	const struct selection_conf *per = (const struct selection_conf *)conf;
	int kinds = (per->source != NULL) + (per->destination != NULL) + per->flow;

	(void)cloud;
	if (kinds != 1)
		return problem_set(
		        problem, kinds == 0 ? -1 : PER_FLOW,
		        "give exactly one of `source` PREFIX, `destination` PREFIX and `flow`");
	if (per->flow && per->v6)
		return problem_set(
		        problem, PER_V6,
		        "`flow` takes no prefix: it means all flows, or those that `match` "
		        "selects");
	if (check_prefix(per->source, true, false, PER_SOURCE, problem) ||
	    check_prefix(per->destination, false, false, PER_DESTINATION, problem) ||
	    check_prefix(per->v6, true, true, PER_V6, problem))
		return -EINVAL;
	if (check_match(per->match, PER_MATCH, problem))
		return -EINVAL;
	return check_both(per, problem);
}

const struct statement selection_statement = {
        .name = "cloud",
        .help = "which packets a cloud takes",
        .role = ROLE_CLOUD,
        .fields = selection_fields,
        .conf_bytes = sizeof(struct selection_conf),
        .check = selection_check,
};

const struct statement selection_per_statement = {
        .name = "clouds",
        .help = "one cloud per address, and which packets they take",
        .role = ROLE_CLOUD,
        .fields = per_fields,
        .conf_bytes = sizeof(struct selection_conf),
        .check = per_check,
};

bool selection_chooses(const struct cloud_conf *cloud)
{
	const struct selection_conf *selection = selection_of(cloud);

	return selection && (selection->match || selection->source || selection->destination);
}

int selection_rows(const struct cloud_conf *cloud, struct match *rows, bool *exact,
                   const char **filter, struct problem *problem)
{
	const struct selection_conf *selection = selection_of(cloud);
	bool prefixes = selection->source || selection->destination;
	struct match match;

	*filter = NULL;
	*exact = prefixes;
	rows->n = 0;
	if (prefixes)
		prefix_rows(selection, rows);
	if (!selection->match)
		return 0;
	if (!match_parse(selection->match, &match)) {
		*filter = selection->match;
		return 0;
	}
	*exact = true;
	if (prefixes)
		return rows_join(rows, &match, problem);
	*rows = match;
	return 0;
}

const char *selection_filter(const struct selection_conf *selection)
{
	struct match match;

	if (!selection->match || match_parse(selection->match, &match))
		return NULL;
	return selection->match;
}

int selection_match_field(const struct statement *statement)
{
	return statement == &selection_statement ? 1 : PER_MATCH;
}

uint32_t selection_most(const struct selection_conf *per)
{
	struct match rows;
	uint32_t most = 0;

	if (per->most)
		return (uint32_t)per->most;
	if (per->flow)
		return SELECTION_MOST;
	prefix_rows(per, &rows);
	for (uint32_t i = 0; i < rows.n; i++) {
		uint32_t size = match_prefix_size(&rows.rows[i], per->source != NULL);

		most += size < SELECTION_MOST ? size : SELECTION_MOST;
	}
	return most;
}

int selection_check_copies(const struct cloud_conf *cloud, uint64_t bytes, struct problem *problem)
{
	uint32_t most = cloud && cloud->many ? selection_most(selection_of(cloud)) : 0;

	if (most == 0 || bytes <= SELECTION_COPIES_BYTES / most)
		return 0;
	return problem_set(
	        problem, -1,
	        "each of the %u clouds of `%s` would have %llu bytes of this, %llu MiB together; "
	        "the maximum is %llu MiB: make it smaller, or use fewer clouds (`most`)",
	        most, cloud->name, (unsigned long long)bytes,
	        (unsigned long long)((unsigned __int128)bytes * most >> 20),
	        (unsigned long long)(SELECTION_COPIES_BYTES >> 20));
}
