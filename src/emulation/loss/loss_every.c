/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_every.h"

#include <errno.h>
#include <stdlib.h>

#include "stage/draws.h"
#include "snapshot/snapshot.h"

struct loss_every {
	struct stage stage;
	uint64_t every, burst;
	uint64_t position; /* in the period of every - 1 + burst packets */
};

/* Each flow is counted by itself, from its first packet on. */
static void process_by_flow(const struct loss_every *loss, struct burst *burst)
{
	const uint64_t period = loss->every - 1 + loss->burst;

	for (uint16_t i = 0; i < burst->n; i++) {
		if (burst->flow[i].number % period >= loss->every - 1)
			cloud_drop(loss->stage.cloud, burst, i, REASON_LOSS);
	}
}

static void loss_every_process(struct stage *stage, struct burst *burst)
{
	struct loss_every *loss = (struct loss_every *)stage;
	uint64_t period = loss->every - 1 + loss->burst;

	stage->drawn += burst->n;
	if (unlikely(stage->keyed)) {
		process_by_flow(loss, burst);
		return;
	}
	for (uint16_t i = 0; i < burst->n; i++) {
		if (loss->position >= loss->every - 1)
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
		if (++loss->position == period)
			loss->position = 0;
	}
}

static int loss_every_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_every_conf *every = (const struct loss_every_conf *)conf;
	struct loss_every *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_every_process;
	loss->every = every->every;
	loss->burst = every->burst;
	*stage = &loss->stage;
	return 0;
}

static void loss_every_adopt(struct stage *stage, const struct stage *old)
{
	struct loss_every *loss = (struct loss_every *)stage;
	const struct loss_every *before = (const struct loss_every *)old;
	bool same = loss->every == before->every && loss->burst == before->burst;

	loss->position = same ? before->position : 0;
}

static void loss_every_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_every *loss = (struct loss_every *)stage;

	snapshot_value(snapshot, loss->position);
	snapshot_holds(snapshot, loss->position < loss->every - 1 + loss->burst);
}

static const struct field loss_every_fields[] = {
        {FIELD("every", FIELD_COUNT, struct loss_every_conf, every,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = LOSS_EVERY_MAX,
               .help = "the packet of each period with which the loss begins")},
        {FIELD("burst", FIELD_COUNT, struct loss_every_conf, burst, .min = 1,
               .max = LOSS_EVERY_BURST_MAX, .initial = 1,
               .help = "how many packets in a row are then lost")},
        KEYED_FIELD(struct loss_every_conf),
        FIELD_END,
};

const struct statement loss_every_statement = {
        .name = "loss",
        .variant = "every",
        .help = "of each N - 1 + B packets the last B are lost",
        .example = "every 1000",
        .role = ROLE_STAGE,
        .fields = loss_every_fields,
        .conf_bytes = sizeof(struct loss_every_conf),
        .check = keyed_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_every_make,
        .adopt = loss_every_adopt,
        .snapshot = loss_every_snapshot,
};
