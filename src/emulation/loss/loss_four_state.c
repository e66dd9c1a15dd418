/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_four_state.h"

#include <errno.h>
#include <stdlib.h>

#include "loss/loss_or_mark.h"
#include "snapshot/snapshot.h"
#include "stage/draws.h"

/* How far the sum of two probabilities, each rounded to the nearest 2^-63, may be from 100 %. */
#define ROUNDING 2

enum { FIELD_P13, FIELD_P31, FIELD_P32, FIELD_P23, FIELD_P14 };
enum state { GAP, BURST_RECEIVED, BURST_LOST, GAP_LOST };

/* The moves from a state: a draw below `first` leads to one state, below `second` to another;
 * otherwise the state stays. */
struct moves {
	probability_q63 first, second;
	enum state to_first, to_second;
};

struct loss_four_state {
	struct stage stage;
	bool ecn;
	enum state state;
	struct moves moves[4];
};

static bool is_lost(enum state state)
{
	return state == BURST_LOST || state == GAP_LOST;
}

/* Returns the state of a flow. */
static enum state recall(uint64_t memory)
{
	uint64_t state = flow_recall(memory, FLOW_MARK_LOSS_FOUR_STATE);

	return state <= GAP_LOST ? (enum state)state : GAP;
}

static void loss_four_state_process(struct stage *stage, struct burst *burst)
{
	struct loss_four_state *loss = (struct loss_four_state *)stage;
	uint64_t draw[BURST_ROOM];

	draws_burst(stage, burst, 0, draw);
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		const struct moves *moves;

		if (unlikely(stage->keyed))
			loss->state = recall(burst->flow[i].memory[FLOW_LOSS]);
		moves = &loss->moves[loss->state];
		if (draw_below(draw[i], moves->first))
			loss->state = moves->to_first;
		else if (draw_below(draw[i], moves->second))
			loss->state = moves->to_second;
		if (unlikely(stage->keyed))
			burst->flow[i].memory[FLOW_LOSS] =
			        flow_remember(loss->state, FLOW_MARK_LOSS_FOUR_STATE);
		if (is_lost(loss->state))
			loss_or_mark(stage->cloud, burst, i, loss->ecn);
	}
}

/* Returns the sum of two probabilities, at most one, and exactly one if only rounding separates
 * them. */
static probability_q63 sum(probability_q63 a, probability_q63 b)
{
	return a + b >= PROBABILITY_ONE - ROUNDING ? PROBABILITY_ONE : a + b;
}

static int loss_four_state_check(const struct conf *conf, const struct cloud_conf *cloud,
                                 struct problem *problem)
{
	const struct loss_four_state_conf *model = (const struct loss_four_state_conf *)conf;

	if (model->p13 + model->p14 > PROBABILITY_ONE + ROUNDING)
		return problem_set(problem, FIELD_P14,
		                   "p13 and p14 are more than 100%% together: both leave state 1");
	if (model->p31 + model->p32 > PROBABILITY_ONE + ROUNDING)
		return problem_set(problem, FIELD_P32,
		                   "p31 and p32 are more than 100%% together: both leave state 3");
	return keyed_check(conf, cloud, problem);
}

static int loss_four_state_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_four_state_conf *model = (const struct loss_four_state_conf *)conf;
	struct loss_four_state *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_four_state_process;
	loss->state = GAP;
	loss->moves[GAP] =
	        (struct moves){model->p13, sum(model->p13, model->p14), BURST_LOST, GAP_LOST};
	loss->moves[BURST_RECEIVED] = (struct moves){model->p23, 0, BURST_LOST, BURST_LOST};
	loss->moves[BURST_LOST] =
	        (struct moves){model->p31, sum(model->p31, model->p32), GAP, BURST_RECEIVED};
	loss->moves[GAP_LOST] = (struct moves){PROBABILITY_ONE, 0, GAP, GAP};
	loss->ecn = model->ecn;
	*stage = &loss->stage;
	return 0;
}

static void loss_four_state_adopt(struct stage *stage, const struct stage *old)
{
	((struct loss_four_state *)stage)->state = ((const struct loss_four_state *)old)->state;
}

static void loss_four_state_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_four_state *loss = (struct loss_four_state *)stage;

	loss->state = (enum state)snapshot_index(snapshot, loss->state, GAP_LOST + 1);
}

static const struct field loss_four_state_fields[] = {
        [FIELD_P13] = {FIELD("p13", FIELD_PROBABILITY, struct loss_four_state_conf, p13,
                             .flags = FIELD_REQUIRED, .max = PROBABILITY_ONE,
                             .help = "that a burst begins")},
        [FIELD_P31] = {FIELD("p31", FIELD_PROBABILITY, struct loss_four_state_conf, p31,
                             .flags = FIELD_REQUIRED, .max = PROBABILITY_ONE,
                             .help = "that a burst ends")},
        [FIELD_P32] = {FIELD("p32", FIELD_PROBABILITY, struct loss_four_state_conf, p32,
                             .max = PROBABILITY_ONE, .help = "that losses in a burst pause")},
        [FIELD_P23] = {FIELD("p23", FIELD_PROBABILITY, struct loss_four_state_conf, p23,
                             .max = PROBABILITY_ONE, .initial = PROBABILITY_ONE,
                             .help = "that losses in a burst go on after a pause")},
        [FIELD_P14] = {FIELD("p14", FIELD_PROBABILITY, struct loss_four_state_conf, p14,
                             .max = PROBABILITY_ONE,
                             .help = "that a packet is lost outside bursts")},
        {FIELD("ecn", FIELD_FLAG, struct loss_four_state_conf, ecn, .help = LOSS_ECN_HELP)},
        KEYED_FIELD(struct loss_four_state_conf),
        FIELD_END,
};

const struct statement loss_four_state_statement = {
        .name = "loss",
        .variant = "four-state",
        .help = "bursts with pauses, and single losses between them",
        .example = "four-state p13 0.1% p31 50%",
        .role = ROLE_STAGE,
        .fields = loss_four_state_fields,
        .conf_bytes = sizeof(struct loss_four_state_conf),
        .check = loss_four_state_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_four_state_make,
        .adopt = loss_four_state_adopt,
        .snapshot = loss_four_state_snapshot,
};
