/* SPDX-License-Identifier: BSD-3-Clause */
#include "duplicate/duplicate_random.h"

#include <errno.h>
#include <stdlib.h>

#include "duplicate/duplicate.h"
#include "stage/draws.h"

struct duplicate_random {
	struct stage stage;
	struct chance twice;
};

static void duplicate_random_process(struct stage *stage, struct burst *burst)
{
	struct duplicate_random *duplicate = (struct duplicate_random *)stage;
	uint64_t which = draws_chances(stage, burst, 0, &duplicate->twice, FLOW_DUPLICATE,
	                               FLOW_MARK_DUPLICATE_RANDOM);

	stage->drawn += burst->n;
	duplicate_packets(stage->cloud, burst, which);
}

static int duplicate_random_make(const struct conf *conf, struct stage **stage)
{
	const struct duplicate_random_conf *random = (const struct duplicate_random_conf *)conf;
	struct duplicate_random *duplicate = calloc(1, sizeof(*duplicate));

	if (!duplicate)
		return -ENOMEM;
	duplicate->stage.process = duplicate_random_process;
	duplicate->twice = chance_make(random->probability, random->correlation, random->as_netem);
	*stage = &duplicate->stage;
	return 0;
}

static void duplicate_random_adopt(struct stage *stage, const struct stage *old)
{
	chance_adopt(&((struct duplicate_random *)stage)->twice,
	             &((const struct duplicate_random *)old)->twice);
}

static void duplicate_random_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	chance_snapshot(&((struct duplicate_random *)stage)->twice, snapshot);
}

static const struct field duplicate_random_fields[] = {
        {FIELD("probability", FIELD_PROBABILITY, struct duplicate_random_conf, probability,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = PROBABILITY_ONE,
               .help = "share of the packets that is copied")},
        {FIELD("correlation", FIELD_PROBABILITY, struct duplicate_random_conf, correlation,
               .max = PROBABILITY_ONE,
               .help = "of a packet's duplication with that of the one before it")},
        {FIELD("as-netem", FIELD_FLAG, struct duplicate_random_conf, as_netem,
               .help = CHANCE_AS_NETEM_HELP)},
        KEYED_FIELD(struct duplicate_random_conf),
        FIELD_END,
};

const struct statement duplicate_random_statement = {
        .name = "duplicate",
        .variant = "random",
        .by_percent = true,
        .help = "a packet is followed by a copy with a probability",
        .example = "random 0.1%",
        .role = ROLE_STAGE,
        .fields = duplicate_random_fields,
        .conf_bytes = sizeof(struct duplicate_random_conf),
        .check = keyed_check,
        .acts = {COUNTER(duplicated)},
        .make = duplicate_random_make,
        .adopt = duplicate_random_adopt,
        .snapshot = duplicate_random_snapshot,
};
