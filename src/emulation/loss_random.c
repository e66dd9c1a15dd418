/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss_random.h"

#include <errno.h>
#include <stdlib.h>

#include "cloud.h"
#include "correlated.h"

struct loss_random {
	struct stage stage;
	struct correlated lost;
};

static uint16_t loss_random_process(struct stage *stage, struct rte_mbuf **packets, uint16_t n)
{
	struct loss_random *loss = (struct loss_random *)stage;
	uint64_t draw[BURST_ROOM];
	uint16_t kept = 0;

	draw_burst(stage->key, stage->drawn, 0, n, draw);
	stage->drawn += n;
	for (uint16_t i = 0; i < n; i++) {
		if (correlated_next(&loss->lost, draw[i]))
			cloud_drop(stage->cloud, packets[i], REASON_LOSS);
		else
			packets[kept++] = packets[i];
	}
	return kept;
}

void loss_random_set(struct stage *stage, probability_q63 probability)
{
	struct correlated *lost = &((struct loss_random *)stage)->lost;
	enum correlated_before before = lost->before;

	*lost = correlated_make(probability, 0);
	lost->before = before;
}

static int loss_random_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_random_conf *random = (const struct loss_random_conf *)conf;
	struct loss_random *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_random_process;
	loss->lost = correlated_make(random->probability, random->correlation);
	*stage = &loss->stage;
	return 0;
}

static void loss_random_free(struct stage *stage)
{
	free(stage);
}

static void loss_random_adopt(struct stage *stage, const struct stage *old)
{
	((struct loss_random *)stage)->lost.before = ((const struct loss_random *)old)->lost.before;
}

static const struct field loss_random_fields[] = {
        {.name = "probability",
         .type = FIELD_PROBABILITY,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct loss_random_conf, probability),
         .max = PROBABILITY_ONE,
         .help = "share of the packets that is lost"},
        {.name = "correlation",
         .type = FIELD_PROBABILITY,
         .offset = offsetof(struct loss_random_conf, correlation),
         .max = PROBABILITY_ONE,
         .help = "of a packet's loss with that of the one before it"},
        FIELD_END,
};

const struct statement loss_random_statement = {
        .name = "loss",
        .variant = "random",
        .help = "each packet is lost with a probability",
        .role = ROLE_STAGE,
        .fields = loss_random_fields,
        .conf_bytes = sizeof(struct loss_random_conf),
        .make = loss_random_make,
        .free = loss_random_free,
        .adopt = loss_random_adopt,
};
