/* SPDX-License-Identifier: BSD-3-Clause */
#include "duplicate/duplicate_every.h"

#include <errno.h>
#include <stdlib.h>

#include "duplicate/duplicate.h"
#include "stage/draws.h"
#include "snapshot/snapshot.h"

struct duplicate_every {
	struct stage stage;
	uint64_t every;
	uint64_t count; /* packets since the last one that was copied */
};

/* Returns true if packet i is the N-th, of its flow or since the last one that was copied. */
static bool is_next(struct duplicate_every *duplicate, const struct burst *burst, uint16_t i)
{
	if (unlikely(duplicate->stage.keyed))
		return burst->flow[i].number % duplicate->every == duplicate->every - 1;
	if (++duplicate->count < duplicate->every)
		return false;
	duplicate->count = 0;
	return true;
}

/* Copies do not count: they are not offered traffic. */
static void duplicate_every_process(struct stage *stage, struct burst *burst)
{
	struct duplicate_every *duplicate = (struct duplicate_every *)stage;
	uint64_t which = 0;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (burst_flags(burst, i) & PACKET_COPY || !is_next(duplicate, burst, i))
			continue;
		which |= UINT64_C(1) << i;
	}
	duplicate_packets(stage->cloud, burst, which);
}

static int duplicate_every_make(const struct conf *conf, struct stage **stage)
{
	struct duplicate_every *duplicate = calloc(1, sizeof(*duplicate));

	if (!duplicate)
		return -ENOMEM;
	duplicate->stage.process = duplicate_every_process;
	duplicate->every = ((const struct duplicate_every_conf *)conf)->every;
	*stage = &duplicate->stage;
	return 0;
}

static void duplicate_every_adopt(struct stage *stage, const struct stage *old)
{
	((struct duplicate_every *)stage)->count = ((const struct duplicate_every *)old)->count;
}

static void duplicate_every_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	snapshot_value(snapshot, ((struct duplicate_every *)stage)->count);
}

static const struct field duplicate_every_fields[] = {
        {FIELD("every", FIELD_COUNT, struct duplicate_every_conf, every,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = DUPLICATE_EVERY_MAX,
               .help = "one packet of this many is copied")},
        KEYED_FIELD(struct duplicate_every_conf),
        FIELD_END,
};

const struct statement duplicate_every_statement = {
        .name = "duplicate",
        .variant = "every",
        .help = "every Nth packet is followed by a copy",
        .example = "every 1000",
        .role = ROLE_STAGE,
        .fields = duplicate_every_fields,
        .conf_bytes = sizeof(struct duplicate_every_conf),
        .check = keyed_check,
        .acts = {COUNTER(duplicated)},
        .make = duplicate_every_make,
        .adopt = duplicate_every_adopt,
        .snapshot = duplicate_every_snapshot,
};
