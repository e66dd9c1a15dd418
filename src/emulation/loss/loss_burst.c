/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_burst.h"

#include <errno.h>
#include <stdlib.h>

#include "stage/draws.h"
#include "snapshot/snapshot.h"

enum { LANE_BEGINS, LANE_LENGTH };

struct loss_burst {
	struct stage stage;
	probability_q63 probability;
	struct range length;
	uint64_t left; /* packets of the current burst still to be lost */
};

static uint64_t length_of(const struct loss_burst *loss, const struct burst *burst, uint16_t i)
{
	uint64_t draw = draw_at(draws_place(&loss->stage, burst, i), LANE_LENGTH);

	return loss->length.from + draw_index(draw, loss->length.to - loss->length.from + 1);
}

static void loss_burst_process(struct stage *stage, struct burst *burst)
{
	struct loss_burst *loss = (struct loss_burst *)stage;
	uint64_t draw[BURST_ROOM];

	draws_burst(stage, burst, LANE_BEGINS, draw);
	for (uint16_t i = 0; i < burst->n; i++) {
		uint64_t *memory = NULL;

		if (unlikely(stage->keyed)) {
			memory = &burst->flow[i].memory[FLOW_LOSS];
			loss->left = RTE_MIN(flow_recall(*memory, FLOW_MARK_LOSS_BURST),
			                     loss->length.to);
		}
		if (loss->left == 0 && draw_below(draw[i], loss->probability))
			loss->left = length_of(loss, burst, i);
		if (loss->left > 0) {
			loss->left--;
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
		}
		if (unlikely(memory != NULL))
			*memory = flow_remember(loss->left, FLOW_MARK_LOSS_BURST);
	}
	stage->drawn += burst->n;
}

static int loss_burst_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_burst_conf *burst = (const struct loss_burst_conf *)conf;
	struct loss_burst *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_burst_process;
	loss->probability = burst->probability;
	loss->length = burst->length;
	*stage = &loss->stage;
	return 0;
}

static void loss_burst_adopt(struct stage *stage, const struct stage *old)
{
	struct loss_burst *loss = (struct loss_burst *)stage;

	if (loss->probability == 0)
		return;
	loss->left = ((const struct loss_burst *)old)->left;
	if (loss->left > loss->length.to)
		loss->left = loss->length.to;
}

static void loss_burst_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_burst *loss = (struct loss_burst *)stage;

	snapshot_value(snapshot, loss->left);
	snapshot_holds(snapshot, loss->left <= loss->length.to);
}

static const struct field loss_burst_fields[] = {
        {FIELD("probability", FIELD_PROBABILITY, struct loss_burst_conf, probability,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = PROBABILITY_ONE,
               .help = "that a burst begins with a packet")},
        {FIELD("length", FIELD_RANGE, struct loss_burst_conf, length, .flags = FIELD_REQUIRED,
               .min = 1, .max = LOSS_BURST_LENGTH_MAX,
               .help = "how many packets in a row are then lost; all lengths are equally likely")},
        KEYED_FIELD(struct loss_burst_conf),
        FIELD_END,
};

const struct statement loss_burst_statement = {
        .name = "loss",
        .variant = "burst",
        .help = "losses in bursts of random length",
        .example = "burst 0.1% length 2..5",
        .role = ROLE_STAGE,
        .fields = loss_burst_fields,
        .conf_bytes = sizeof(struct loss_burst_conf),
        .check = keyed_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_burst_make,
        .adopt = loss_burst_adopt,
        .snapshot = loss_burst_snapshot,
};
