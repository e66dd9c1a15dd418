/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *statement* is a row of the table in feedback/statements.c: a word of the scenario language
 * (`loss`), perhaps a variant (`random`), its fields, and what it configures. The order of the rows
 * is the order in which a packet meets the stages.
 *
 * What its functions do for control, in any thread that owns no cloud:
 *   check   looks at a configuration, changes nothing; 0, or -EINVAL with `problem` filled in
 *   make    allocates and prepares a stage (stage.h); 0 or -errno; may be slow
 *   ready   goes on when the stage knows its cloud and its key; optional; 0 or -errno. Where a
 *           statement is numbered, it is called for each of the cloud's configurations, in the
 *           order of their numbers; make with the first only
 *   free    gives it back
 * and for the worker that owns the cloud:
 *   adopt   takes over from the stage that it replaces (same statement); optional. `drawn` has been
 *           carried over already, so that a change never repeats random draws.
 *   snapshot  writes down what the stage remembers of packets, or reads it (snapshot.h); NULL: it
 *           remembers nothing but `drawn`, which is done already
 * What holds packets (link, line) has statements too, but no stage.
 */
#ifndef WEIR_STATEMENT_H
#define WEIR_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

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

enum statement_role {
	ROLE_STAGE,        /* has a stage in the cloud */
	ROLE_LINK,         /* rate, queue: configures the link */
	ROLE_AQM,          /* red, codel: manages a queue of the link (aqm.h); one a queue */
	ROLE_AQM_MODIFIER, /* ecn, becn: what an AQM asks for beside its own */
	ROLE_CLASS,        /* class, scheduler: several queues before the link */
	ROLE_LINE,         /* delay: configures the line */
	ROLE_CLOUD,        /* a property of the cloud itself */
	ROLE_SCHEDULE,     /* says when other statements change (timeline.h) */
};

/* A word that the text of a statement may hold, for help and completion. */
struct statement_term {
	const char *name, *help;
};

struct statement {
	const char *name;    /* `loss` */
	const char *variant; /* `random`, or NULL; statements of one name exclude each other */
	const char *help;    /* one line */
	enum statement_role role;
	const struct field *fields;
	const struct statement_term *terms; /* ended by name NULL; or NULL */
	/* Not 0: a cloud has any number of configurations of it, each with a number from 1 to this
	 * one behind the name (1 if not given), all of them treated by one stage. */
	uint32_t number_max;
	/* Not 0: a cloud has up to so many configurations of it, which stand in the order in which
	 * they were given; one that is the `same` as another takes its place. Their number is their
	 * place, from 1, and is not written. */
	uint32_t many_max;
	bool (*same)(const struct conf *conf, const struct conf *other);
	/* It is not kept: it takes the statement of this name out of the cloud. Else NULL. */
	const char *clears;
	/* Its variant may be left out before percent: `loss 1%`. One statement of a name. */
	bool by_percent;
	/* What it reads or writes of a packet behind its headers, wherever they end, in words: `it
	 * inverts any bit of a packet`; NULL: nothing. Lengths on the wire are not read from the
	 * packet. A recording that keeps only the beginning of packets says it. */
	const char *beyond;
	bool generates; /* its stage, or its link, may call cloud_generate */
	/* `generates` only for its watch (cloud_watch.h): its stage never calls cloud_generate, and
	 * looks at nothing that changes within an instant but its packets. */
	bool watches;
	/* A cloud has several, each with a name behind it: that of a class (field.h: scope). */
	bool scoped;
	size_t conf_bytes; /* of the struct that begins with struct conf */
	/* `cloud` is the whole of the cloud's configuration, for statements that need another. */
	int (*check)(const struct conf *conf, const struct cloud_conf *cloud,
	             struct problem *problem);
	const struct aqm_kind *aqm; /* ROLE_AQM only */
	/* ROLE_STAGE only */
	int (*make)(const struct conf *conf, struct stage **stage);
	int (*ready)(struct stage *stage, const struct conf *conf);
	void (*free)(struct stage *stage);
	void (*adopt)(struct stage *stage, const struct stage *old);
	void (*snapshot)(struct stage *stage, struct snapshot *snapshot);
	/* How many of the first packets, as they came to the cloud, will certainly not make it call
	 * cloud_generate; a quick look, which may say fewer than there are. Optional: a cloud with
	 * a stage that generates and has none takes packets one by one. */
	uint16_t (*unanswered)(const struct stage *stage, struct burst *burst, uint16_t from,
	                       uint16_t n);
	/* ROLE_SCHEDULE only: what it adds to the timeline of a cloud. Control. 0 or -errno. */
	int (*plan)(const struct conf *conf, struct timeline_plan *plan);
	/* The statements that it changes: one of the two. For good: */
	const struct orders *(*lasting)(const struct conf *conf);
	/* For a while: name and role of each, TIMELINE_ORDERS_MAX at most; returns how many. */
	uint32_t (*covers)(const struct conf *conf, struct order *covers);
	/* What it knows beside the counters; optional; control, while the worker runs it. */
	void (*report)(const struct stage *stage, struct observed *observed);
};

#endif
