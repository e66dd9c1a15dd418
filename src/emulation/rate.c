/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate.h"

#include <errno.h>

#include "delay.h"
#include "scenario.h"

static const char *const algorithms[] = {"leaky-bucket", "token-bucket", NULL};

enum { RATE_FIELD_RATE, RATE_FIELD_ALGORITHM, RATE_FIELD_BURST, RATE_FIELD_QUEUE };

static const struct field rate_fields[] = {
        {.name = "rate",
         .type = FIELD_RATE,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct rate_conf, rate_bps),
         .min = 1,
         .max = RATE_BPS_MAX,
         .help = "bits a second that the link sends"},
        {.name = "algorithm",
         .type = FIELD_WORD,
         .offset = offsetof(struct rate_conf, algorithm),
         .words = algorithms,
         .help = "leaky-bucket sends evenly, token-bucket lets bursts pass"},
        {.name = "burst",
         .type = FIELD_BYTES,
         .offset = offsetof(struct rate_conf, burst_bytes),
         .min = 1,
         .max = RATE_BURST_MAX,
         .help = "depth of the token bucket"},
        {.name = "queue",
         .type = FIELD_LIMIT,
         .offset = offsetof(struct rate_conf, queue),
         .min = 1,
         .help = "what waits for the link: bytes, packets or time; else rate x delay"},
        FIELD_END,
};

static int rate_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	const struct rate_conf *rate = (const struct rate_conf *)conf;

	(void)cloud;
	if (rate->algorithm == RATE_TOKEN_BUCKET && rate->burst_bytes == 0) {
		problem_set(problem, RATE_FIELD_ALGORITHM,
		            "a token-bucket needs its depth: add `burst` and a size, like 15kB");
		return -EINVAL;
	}
	if (rate->algorithm == RATE_LEAKY_BUCKET && rate->burst_bytes != 0) {
		problem_set(problem, RATE_FIELD_BURST,
		            "a leaky-bucket has no burst: leave it out, or say `algorithm "
		            "token-bucket`");
		return -EINVAL;
	}
	return 0;
}

struct limit rate_queue(const struct rate_conf *conf, const struct cloud_conf *cloud)
{
	const struct delay_conf *delay = (const struct delay_conf *)cloud_conf_get(cloud, "delay");
	unsigned __int128 product;
	uint64_t bytes;

	if (conf->queue.unit != LIMIT_NONE)
		return conf->queue;
	product = (unsigned __int128)conf->rate_bps * (delay ? delay->delay_ns : 0);
	bytes = (uint64_t)(product / (8 * SIMTIME_S));
	if (bytes < RATE_QUEUE_BYTES_MIN)
		bytes = RATE_QUEUE_BYTES_MIN;
	return (struct limit){.value = bytes, .unit = LIMIT_BYTES};
}

const struct statement rate_statement = {
        .name = "rate",
        .help = "the bandwidth of the bottleneck, and the queue before it",
        .role = ROLE_LINK,
        .fields = rate_fields,
        .conf_bytes = sizeof(struct rate_conf),
        .check = rate_check,
};
