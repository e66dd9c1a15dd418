/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/rate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "line/delay.h"
#include "scenario/scenario.h"

static const char *const algorithms[] = {"leaky-bucket", "token-bucket", NULL};

const char *const rate_drops[] = {"tail", "head", NULL};
static const char *const layers[] = {"layer2", "layer3", "layer1", "atm", NULL};

#define ETHERNET_BYTES 14
#define FRAME_LEAST    60
#define LAYER1_BYTES   24 /* FCS 4, preamble and delimiter 8, gap 12 */
#define AAL5_TRAILER   8
#define ATM_CELL       48
#define ATM_HEADER     5
#define EXTRA_MAX      1000
#define CELL_TIMES_MAX 16

enum {
	RATE_FIELD_RATE,
	RATE_FIELD_ALGORITHM,
	RATE_FIELD_BURST,
	RATE_FIELD_QUEUE,
	RATE_FIELD_DROP,
	RATE_FIELD_OVERHEAD,
	RATE_FIELD_ENCAP,
	RATE_FIELD_CELL,
	RATE_FIELD_CELL_OVERHEAD,
};

static const struct field rate_fields[] = {
        {FIELD("rate", FIELD_RATE, struct rate_conf, rate_bps,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = RATE_BPS_MAX,
               .help = "bits a second that the link sends")},
        {FIELD("algorithm", FIELD_WORD, struct rate_conf, algorithm, .words = algorithms,
               .help = "leaky-bucket sends evenly, token-bucket lets bursts pass")},
        {FIELD("burst", FIELD_BYTES, struct rate_conf, burst_bytes, .min = 1, .max = RATE_BURST_MAX,
               .help = "depth of the token bucket")},
        {FIELD("queue", FIELD_LIMIT, struct rate_conf, queue, .min = 1,
               .help = "how much may wait for the link: bytes, packets or time; if not given, rate "
                       "x "
                       "delay, at least 64kB")},
        {FIELD("drop", FIELD_WORD, struct rate_conf, drop, .words = rate_drops,
               .help = "which packet a full queue drops: the arriving one, or the oldest")},
        {FIELD("overhead", FIELD_TEXT, struct rate_conf, overhead,
               .help = "how the length of a frame on the link is counted: layer1, layer2, layer3, "
                       "atm, "
                       "or bytes to add, like -14")},
        {FIELD("encap", FIELD_BYTES, struct rate_conf, encap_bytes, .max = EXTRA_MAX,
               .help = "atm: bytes between IP and AAL5")},
        {FIELD("cell", FIELD_BYTES, struct rate_conf, cell_bytes, .min = 8, .max = 65535,
               .help = "packets are cut into cells that carry this much")},
        {FIELD("cell-overhead", FIELD_BYTES, struct rate_conf, cell_overhead_bytes, .min = 1,
               .max = 65535, .help = "bytes of each cell in addition to those that it carries")},
        FIELD_END,
};

enum layer { LAYER_2, LAYER_3, LAYER_1, LAYER_ATM, LAYER_NUMBER, LAYER_WRONG };

/* Returns which word the text is, or LAYER_NUMBER with *number, or LAYER_WRONG. */
static enum layer layer_of(const char *text, long *number)
{
	char *end;

	*number = 0;
	for (int i = 0; text && layers[i]; i++) {
		if (strcmp(text, layers[i]) == 0)
			return (enum layer)i;
	}
	if (!text)
		return LAYER_2;
	/* strtol() skips spaces. */
	if (isspace((unsigned char)*text))
		return LAYER_WRONG;
	*number = strtol(text, &end, 10);
	if (end != text && strcmp(end, "B") == 0)
		end++;
	if (end == text || *end || *number < -EXTRA_MAX || *number > EXTRA_MAX)
		return LAYER_WRONG;
	return LAYER_NUMBER;
}

static int check_overhead(const struct rate_conf *rate, struct problem *problem)
{
	long number;
	enum layer layer = layer_of(rate->overhead, &number);

	if (layer == LAYER_WRONG)
		return problem_set(
		        problem, RATE_FIELD_OVERHEAD,
		        "`overhead %.40s`: expected layer1, layer2, layer3, atm, or a number "
		        "of bytes from -%d to %d, like -14",
		        rate->overhead, EXTRA_MAX, EXTRA_MAX);
	if (rate->conf.given >> RATE_FIELD_ENCAP & 1 && layer != LAYER_ATM)
		return problem_set(problem, RATE_FIELD_ENCAP,
		                   "`encap` belongs to `overhead atm`; say `overhead %" PRIu64
		                   "` to add this many bytes",
		                   rate->encap_bytes);
	if (layer == LAYER_ATM && rate->cell_bytes)
		return problem_set(problem, RATE_FIELD_CELL,
		                   "`overhead atm` has its own cells, of 48 B: leave `cell` out");
	if (rate->cell_overhead_bytes && !rate->cell_bytes)
		return problem_set(problem, RATE_FIELD_CELL_OVERHEAD,
		                   "there are no cells: say how much one carries, like `cell 48B`");
	if (rate->cell_bytes + rate->cell_overhead_bytes > CELL_TIMES_MAX * rate->cell_bytes)
		return problem_set(problem, RATE_FIELD_CELL_OVERHEAD,
		                   "a cell can take at most %d times what it carries",
		                   CELL_TIMES_MAX);
	return 0;
}

struct overhead rate_overhead(const struct rate_conf *rate)
{
	struct overhead overhead = {.given = rate->overhead || rate->cell_bytes};
	long number;

	switch (layer_of(rate->overhead, &number)) {
	case LAYER_3:
		overhead.add = -ETHERNET_BYTES;
		break;
	case LAYER_1:
		overhead.add = LAYER1_BYTES;
		overhead.least = FRAME_LEAST;
		break;
	case LAYER_ATM:
		overhead.add = (int32_t)rate->encap_bytes + AAL5_TRAILER - ETHERNET_BYTES;
		overhead.cell = ATM_CELL;
		overhead.cell_wire = ATM_CELL + ATM_HEADER;
		break;
	case LAYER_NUMBER:
		overhead.add = (int32_t)number;
		break;
	case LAYER_2:
	case LAYER_WRONG:
		break;
	}
	if (rate->cell_bytes) {
		overhead.cell = (uint32_t)rate->cell_bytes;
		overhead.cell_wire = (uint32_t)(rate->cell_bytes + rate->cell_overhead_bytes);
	}
	overhead.none = overhead.add == 0 && overhead.least == 0 && overhead.cell == 0;
	return overhead;
}

bool rate_drops_head(const struct cloud_conf *cloud, const struct conf *conf, uint32_t drop,
                     uint32_t field)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(cloud, "rate");

	if (rate && !(conf->given >> field & 1))
		drop = rate->drop;
	return drop == RATE_DROP_HEAD;
}

static int rate_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	const struct rate_conf *rate = (const struct rate_conf *)conf;

	(void)cloud;
	if (rate->algorithm == RATE_TOKEN_BUCKET && rate->burst_bytes == 0)
		return problem_set(
		        problem, RATE_FIELD_ALGORITHM,
		        "a token-bucket needs its depth: add `burst` and a size, like 15kB");
	if (rate->algorithm == RATE_LEAKY_BUCKET && rate->burst_bytes != 0)
		return problem_set(problem, RATE_FIELD_BURST,
		                   "a leaky-bucket has no burst: leave it out, or say `algorithm "
		                   "token-bucket`");
	return check_overhead(rate, problem);
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
        .example = "100gbit queue 10MB",
        .role = ROLE_LINK,
        .fields = rate_fields,
        .conf_bytes = sizeof(struct rate_conf),
        .check = rate_check,
};
