/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/police.h"

#include <errno.h>
#include <stdlib.h>

#include "stage/stage.h"
#include "link/rate.h"
#include "link/shaper.h"
#include "snapshot/snapshot.h"

struct police {
	struct stage stage;
	struct shaper bucket; /* its debt is what the bucket lacks to be full */
};

static bool passes(struct shaper *bucket, uint32_t wire_bytes, simtime now)
{
	int64_t work = shaper_work(wire_bytes);

	shaper_idle_until(bucket, now);
	if (work > bucket->depth_work - bucket->debt_work)
		return false;
	bucket->debt_work += work;
	return true;
}

static void police_process(struct stage *stage, struct burst *burst)
{
	struct police *police = (struct police *)stage;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (!passes(&police->bucket, burst_wire_bytes(burst, i), burst_t(burst, i)))
			cloud_drop(stage->cloud, burst, i, REASON_POLICE);
	}
}

static int police_make(const struct conf *conf, struct stage **stage)
{
	const struct police_conf *limits = (const struct police_conf *)conf;
	struct police *police = calloc(1, sizeof(*police));

	if (!police)
		return -ENOMEM;
	police->stage.process = police_process;
	police->bucket.rate_bps = limits->rate_bps;
	police->bucket.depth_work = (int64_t)limits->burst_bytes * SHAPER_WORK_PER_BYTE;
	*stage = &police->stage;
	return 0;
}

static void police_adopt(struct stage *stage, const struct stage *old)
{
	struct shaper *bucket = &((struct police *)stage)->bucket;
	const struct shaper *before = &((const struct police *)old)->bucket;
	int64_t left = before->depth_work - before->debt_work;

	/* The bucket keeps its bytes, as far as the new depth allows. */
	bucket->debt_work = left < bucket->depth_work ? bucket->depth_work - left : 0;
	bucket->at = before->at;
}

static void police_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct shaper *bucket = &((struct police *)stage)->bucket;

	snapshot_value(snapshot, bucket->debt_work);
	snapshot_value(snapshot, bucket->at);
	snapshot_holds(snapshot, bucket->debt_work >= 0 && bucket->debt_work <= bucket->depth_work);
}

static const struct field police_fields[] = {
        {FIELD("rate", FIELD_RATE, struct police_conf, rate_bps,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = RATE_BPS_MAX,
               .help = "bits a second that may pass")},
        {FIELD("burst", FIELD_BYTES, struct police_conf, burst_bytes, .flags = FIELD_REQUIRED,
               .min = 1, .max = RATE_BURST_MAX,
               .help = "bytes that may pass at once; a longer packet never passes")},
        FIELD_END,
};

const struct statement police_statement = {
        .name = "police",
        .help = "packets above a rate are dropped, without a queue",
        .example = "100gbit burst 1MB",
        .role = ROLE_STAGE,
        .fields = police_fields,
        .conf_bytes = sizeof(struct police_conf),
        .acts = {DROPS(POLICE)},
        .make = police_make,
        .adopt = police_adopt,
        .snapshot = police_snapshot,
};
