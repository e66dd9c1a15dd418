/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *statement* is a row of the table in feedback/statements.c: a word of the scenario language
 * (`loss`), perhaps a variant (`random`), its fields, and what it configures. The order of the rows
 * is the order in which a packet meets the stages.
 *
 * Functions for control, called in any thread that owns no cloud:
 *   check   checks a configuration and changes nothing; returns 0, or -EINVAL with `problem`;
 *           optional, since the parser checks the ranges of fields
 *   make    allocates and prepares a stage (stage.h); returns 0 or -errno; may be slow
 *   ready   completes a stage that knows its cloud and its key; optional; returns 0 or -errno. If
 *           the statement is numbered, it is called for each configuration of the cloud, in the
 *           order of their numbers, and make for the first only
 *   free    frees the stage; NULL: one free() does
 * Functions for the worker that owns the cloud:
 *   adopt   takes over state from the stage (same statement) that this one replaces; optional.
 *           `drawn` has been copied before, so that a change never repeats random draws.
 *   snapshot  writes or reads what the stage remembers of packets (snapshot.h); NULL if that is
 *           nothing but `drawn`, which the caller writes and reads
 * Link and line, which hold packets, have statements too, but no stage.
 */
#ifndef WEIR_STATEMENT_H
#define WEIR_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "account/counters.h"
#include "scenario/field.h"
#include "scenario/problem.h"

struct aqm_kind;
struct burst;
struct cloud_conf;
struct observed;
struct order;
struct orders;
struct snapshot;
struct stage;
struct timeline_plan;

#define TIMELINE_ORDERS_MAX 32
#define STATEMENT_ACTS      2
#define STATEMENT_BESIDE    3
#define STATEMENT_COUNTS    5

enum statement_role {
	ROLE_STAGE,        /* has a stage in the cloud */
	ROLE_LINK,         /* rate, queue: configures the link */
	ROLE_AQM,          /* red, codel: manages a queue of the link (aqm.h); one a queue */
	ROLE_AQM_MODIFIER, /* ecn, becn: further settings of an AQM */
	ROLE_CLASS,        /* class, scheduler: several queues before the link */
	ROLE_LINE,         /* delay: configures the line */
	ROLE_CLOUD,        /* a property of the cloud itself */
	ROLE_SCHEDULE,     /* says when other statements change (timeline.h) */
};

/* A word that the text of a statement may hold, for help and completion. */
struct statement_term {
	const char *name, *help;
};

/* A counter of the cloud, and what `show` says of it beside the statement: `9 marked`. */
struct statement_count {
	size_t counter;    /* its offset (counters.h) */
	const char *words; /* behind the count: `marked`; or NULL, and */
	const char *thing; /* what is counted: `answer written` */
	bool always;       /* said even if it is 0 */
};

struct statement {
	const char *name;    /* `loss` */
	const char *variant; /* `random`, or NULL; statements of one name exclude each other */
	const char *help;    /* one line */
	/* The words behind the name in an example, for help and for `weir bench`, which makes this
	 * change while packets flow at 10 Gbit/s; FILE stands for a file of numbers. NULL: none.
	 * `beside`: statements that must stand beside it. */
	const char *example, *beside[STATEMENT_BESIDE];
	enum statement_role role;
	const struct field *fields;
	const struct statement_term *terms; /* ended by NULL as name; or NULL */
	/* What `show` says, in addition to what follows from `acts`. */
	struct statement_count counts[STATEMENT_COUNTS];
	/* If not 0, a cloud has any number of configurations of the statement. Each has a number
	 * from 1 to this one behind the name (1 if not given). One stage treats them all. */
	uint32_t number_max;
	/* If not 0, a cloud has up to so many configurations of the statement, in the order in
	 * which they were given. A new one replaces one that is the `same`. Their numbers are their
	 * positions, from 1, and are not written. */
	uint32_t many_max;
	bool (*same)(const struct conf *conf, const struct conf *other);
	/* If not NULL, the statement is not kept: it removes the statement of this name from the
	 * cloud. */
	const char *clears;
	/* The variant may be left out before a percentage: `loss 1%`. One statement of each name at
	 * most. */
	bool by_percent;
	/* With many_max: one that replaces another comes last, because their order matters. */
	bool replaces_as_last;
	/* What the statement reads or writes of a packet behind its headers, wherever they end, in
	 * words: `it inverts any bit of a packet`; NULL: nothing. Lengths on the wire are not read
	 * from the packet. A recording that keeps only the beginning of packets prints these
	 * words. */
	const char *beyond;
	bool generates; /* its stage, or its link, may call cloud_generate */
	/* `generates` is set only because of its watch (cloud_watch.h): the stage never calls
	 * cloud_generate, and reads nothing that changes within an instant but its packets. */
	bool watches;
	/* A cloud has several, each followed by the name of a class (field.h: scope). */
	bool scoped;
	size_t conf_bytes; /* of the struct that begins with struct conf */
	/* `cloud` is the whole configuration of the cloud, for statements that require another
	 * one. */
	int (*check)(const struct conf *conf, const struct cloud_conf *cloud,
	             struct problem *problem);
	/* Where among the counters of its cloud (counters.h) its effect is counted: offsets; 0:
	 * none. If there is one, the engine counts for each statement of the cloud apart (tally.h);
	 * a numbered one counts by itself. */
	size_t acts[STATEMENT_ACTS];
	const struct aqm_kind *aqm; /* ROLE_AQM only */
	/* ROLE_STAGE only */
	int (*make)(const struct conf *conf, struct stage **stage);
	int (*ready)(struct stage *stage, const struct conf *conf);
	void (*free)(struct stage *stage);
	void (*adopt)(struct stage *stage, const struct stage *old);
	void (*snapshot)(struct stage *stage, struct snapshot *snapshot);
	/* Returns how many packets of the burst, from packet `from` on, certainly do not make the
	 * stage call cloud_generate; n at most. A quick look, which may count too few. Optional: a
	 * cloud whose generating stage lacks this function takes packets one by one. */
	uint16_t (*unanswered)(const struct stage *stage, struct burst *burst, uint16_t from,
	                       uint16_t n);
	/* Adds the tracks of the statement to the timeline of a cloud. ROLE_SCHEDULE only. Returns
	 * 0 or -errno. Thread: control. */
	int (*plan)(const struct conf *conf, struct timeline_plan *plan);
	/* Return the statements that the schedule changes; a schedule has one of the two functions.
	 * For good: */
	const struct orders *(*lasting)(const struct conf *conf);
	/* For a while: writes the name and role of each, TIMELINE_ORDERS_MAX at most; returns their
	 * number. */
	uint32_t (*covers)(const struct conf *conf, struct order *covers);
	/* Reports what the stage knows beside the counters. Optional. Thread: control, while the
	 * worker runs the stage. */
	void (*report)(const struct stage *stage, struct observed *observed);
};

/* Returns true if the engine counts what each such statement of a cloud does (tallied.h). */
static inline bool statement_acts(const struct statement *statement)
{
	return statement->acts[0] != 0;
}

#endif
