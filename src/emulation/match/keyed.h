/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The option `keyed` of statements that draw or count: what the fate of a packet follows from.
 *
 *   cloud       its number in the cloud: all packets share one sequence of draws, or one count
 *   flow        its flow, and its number in the flow (flows.h)
 *   connection  the same, but ports that clients choose do not count; flows that differ in nothing
 *               else are told apart by the order in which they begin
 *
 * A statement has the option by a row KEYED_FIELD in its table, a member `keyed` in its
 * configuration, and keyed_check as its check, or in it.
 */
#ifndef WEIR_KEYED_H
#define WEIR_KEYED_H

#include "packet/burst.h"
#include "random/draw.h"
#include "scenario/field.h"

struct cloud_conf;
struct problem;

enum keyed { KEYED_CLOUD, KEYED_FLOW, KEYED_CONNECTION };

extern const char *const keyed_words[];

#define KEYED_FIELD(conf)                                                                          \
	{                                                                                          \
		FIELD("keyed", FIELD_WORD, conf, keyed, .words = keyed_words,                      \
		      .help = "what a packet's fate follows from: its number in the cloud, or "    \
		              "its flow and its number there; connection: ports from 32768 on do " \
		              "not count")                                                         \
	}

/* Returns what the configuration gives; KEYED_CLOUD if its statement has no such field. */
enum keyed keyed_of(const struct conf *conf);
/* The `check` (statement.h) of a statement that has the field, or a part of it. Thread: control. */
int keyed_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem);

/* Returns the key of a flow's draws under that of a statement, which is not KEYED_CLOUD. */
static inline struct draw_key keyed_within(struct draw_key key, enum keyed keyed,
                                           const struct burst_flow *flow)
{
	return draw_key_within(key, flow->name[keyed - KEYED_FLOW]);
}

#endif
