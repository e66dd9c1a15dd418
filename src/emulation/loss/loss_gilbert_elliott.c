/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_gilbert_elliott.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "loss/loss_or_mark.h"
#include "snapshot/snapshot.h"
#include "stage/draws.h"

enum { LANE_STATE, LANE_LOSS };
enum channel { GOOD, BAD };

struct loss_gilbert_elliott {
	struct stage stage;
	probability_q63 leaves[2]; /* by enum channel */
	probability_q63 lost[2];
	enum channel channel;
	bool ecn;
};

/* Returns true if the packet is lost. Draws only if the probability is neither 0 nor 1. */
static bool is_lost(const struct loss_gilbert_elliott *loss, const struct burst *burst, uint16_t i)
{
	probability_q63 p = loss->lost[loss->channel];

	if (p == 0 || p == PROBABILITY_ONE)
		return p != 0;
	return draw_below(draw_at(draws_place(&loss->stage, burst, i), LANE_LOSS), p);
}

/* Returns the channel of a flow. */
static enum channel recall(uint64_t memory)
{
	return flow_recall(memory, FLOW_MARK_LOSS_GILBERT_ELLIOTT) == BAD ? BAD : GOOD;
}

static void loss_gilbert_elliott_process(struct stage *stage, struct burst *burst)
{
	struct loss_gilbert_elliott *loss = (struct loss_gilbert_elliott *)stage;
	uint64_t draw[BURST_ROOM];

	draws_burst(stage, burst, LANE_STATE, draw);
	for (uint16_t i = 0; i < burst->n; i++) {
		if (unlikely(stage->keyed))
			loss->channel = recall(burst->flow[i].memory[FLOW_LOSS]);
		if (draw_below(draw[i], loss->leaves[loss->channel]))
			loss->channel = loss->channel == GOOD ? BAD : GOOD;
		if (unlikely(stage->keyed))
			burst->flow[i].memory[FLOW_LOSS] =
			        flow_remember(loss->channel, FLOW_MARK_LOSS_GILBERT_ELLIOTT);
		if (is_lost(loss, burst, i))
			loss_or_mark(stage->cloud, burst, i, loss->ecn);
	}
	stage->drawn += burst->n;
}

static int loss_gilbert_elliott_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_gilbert_elliott_conf *model =
	        (const struct loss_gilbert_elliott_conf *)conf;
	struct loss_gilbert_elliott *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_gilbert_elliott_process;
	loss->leaves[GOOD] = model->p;
	loss->leaves[BAD] = model->r;
	loss->lost[GOOD] = model->good;
	loss->lost[BAD] = model->bad;
	loss->ecn = model->ecn;
	*stage = &loss->stage;
	return 0;
}

static void loss_gilbert_elliott_adopt(struct stage *stage, const struct stage *old)
{
	((struct loss_gilbert_elliott *)stage)->channel =
	        ((const struct loss_gilbert_elliott *)old)->channel;
}

static void loss_gilbert_elliott_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_gilbert_elliott *loss = (struct loss_gilbert_elliott *)stage;

	loss->channel = (enum channel)snapshot_index(snapshot, loss->channel, BAD + 1);
}

static const struct field loss_gilbert_elliott_fields[] = {
        {FIELD("p", FIELD_PROBABILITY, struct loss_gilbert_elliott_conf, p, .flags = FIELD_REQUIRED,
               .max = PROBABILITY_ONE, .help = "that a good channel turns bad, at each packet")},
        {FIELD("r", FIELD_PROBABILITY, struct loss_gilbert_elliott_conf, r, .flags = FIELD_REQUIRED,
               .max = PROBABILITY_ONE, .help = "that a bad channel turns good, at each packet")},
        {FIELD("bad", FIELD_PROBABILITY, struct loss_gilbert_elliott_conf, bad,
               .max = PROBABILITY_ONE, .initial = PROBABILITY_ONE,
               .help = "share of the packets that a bad channel loses")},
        {FIELD("good", FIELD_PROBABILITY, struct loss_gilbert_elliott_conf, good,
               .max = PROBABILITY_ONE, .help = "share of the packets that a good channel loses")},
        {FIELD("ecn", FIELD_FLAG, struct loss_gilbert_elliott_conf, ecn, .help = LOSS_ECN_HELP)},
        KEYED_FIELD(struct loss_gilbert_elliott_conf),
        FIELD_END,
};

const struct statement loss_gilbert_elliott_statement = {
        .name = "loss",
        .variant = "gilbert-elliott",
        .help = "a channel that changes between a good and a bad state",
        .example = "gilbert-elliott p 0.1% r 50%",
        .role = ROLE_STAGE,
        .fields = loss_gilbert_elliott_fields,
        .conf_bytes = sizeof(struct loss_gilbert_elliott_conf),
        .check = keyed_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_gilbert_elliott_make,
        .adopt = loss_gilbert_elliott_adopt,
        .snapshot = loss_gilbert_elliott_snapshot,
};
