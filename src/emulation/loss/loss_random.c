/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_random.h"

#include <errno.h>
#include <stdlib.h>

#include "loss/loss_or_mark.h"
#include "stage/draws.h"

struct loss_random {
	struct stage stage;
	struct chance lost;
	bool ecn;
};

_Static_assert(BURST_ROOM <= 64, "`which` has 64 bits");

static void loss_random_process(struct stage *stage, struct burst *burst)
{
	struct loss_random *loss = (struct loss_random *)stage;
	uint64_t which =
	        draws_chances(stage, burst, 0, &loss->lost, FLOW_LOSS, FLOW_MARK_LOSS_RANDOM);

	stage->drawn += burst->n;
	for (; which; which &= which - 1)
		loss_or_mark(stage->cloud, burst, (uint16_t)__builtin_ctzll(which), loss->ecn);
}

void loss_random_set(struct stage *stage, probability_q63 probability)
{
	struct chance *lost = &((struct loss_random *)stage)->lost;
	struct chance before = *lost;

	*lost = chance_make(probability, 0, false);
	chance_adopt(lost, &before);
}

static int loss_random_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_random_conf *random = (const struct loss_random_conf *)conf;
	struct loss_random *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_random_process;
	loss->lost = chance_make(random->probability, random->correlation, random->as_netem);
	loss->ecn = random->ecn;
	*stage = &loss->stage;
	return 0;
}

static void loss_random_adopt(struct stage *stage, const struct stage *old)
{
	chance_adopt(&((struct loss_random *)stage)->lost,
	             &((const struct loss_random *)old)->lost);
}

static void loss_random_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	chance_snapshot(&((struct loss_random *)stage)->lost, snapshot);
}

static const struct field loss_random_fields[] = {
        {FIELD("probability", FIELD_PROBABILITY, struct loss_random_conf, probability,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = PROBABILITY_ONE,
               .help = "share of the packets that is lost")},
        {FIELD("correlation", FIELD_PROBABILITY, struct loss_random_conf, correlation,
               .max = PROBABILITY_ONE,
               .help = "of a packet's loss with that of the one before it")},
        {FIELD("ecn", FIELD_FLAG, struct loss_random_conf, ecn, .help = LOSS_ECN_HELP)},
        {FIELD("as-netem", FIELD_FLAG, struct loss_random_conf, as_netem,
               .help = CHANCE_AS_NETEM_HELP)},
        KEYED_FIELD(struct loss_random_conf),
        FIELD_END,
};

const struct statement loss_random_statement = {
        .name = "loss",
        .variant = "random",
        .by_percent = true,
        .help = "each packet is lost with a probability",
        .example = "random 1%",
        .role = ROLE_STAGE,
        .fields = loss_random_fields,
        .conf_bytes = sizeof(struct loss_random_conf),
        .check = keyed_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_random_make,
        .adopt = loss_random_adopt,
        .snapshot = loss_random_snapshot,
};
