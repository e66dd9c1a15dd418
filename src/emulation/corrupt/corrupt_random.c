/* SPDX-License-Identifier: BSD-3-Clause */
#include "corrupt/corrupt_random.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "corrupt/flip.h"
#include "packet/copy.h"
#include "stage/draws.h"

enum { LANE_WHETHER, LANE_WHICH };

struct corrupt_random {
	struct stage stage;
	struct chance wrong;
	uint32_t bits;
};

static bool has(const uint64_t *bits, uint32_t n, uint64_t bit)
{
	for (uint32_t i = 0; i < n; i++) {
		if (bits[i] == bit)
			return true;
	}
	return false;
}

/* Inverts distinct bits by Floyd's sampling: draws one of the numbers up to `top`; if that one has
 * been drawn before, takes `top` itself. All sets of that size are equally likely. */
static void flip_bits(const struct corrupt_random *corrupt, struct rte_mbuf *mbuf,
                      struct draw_place place)
{
	uint64_t all = (uint64_t)mbuf->pkt_len * 8, flipped[CORRUPT_BITS_MAX];
	uint32_t n = all < corrupt->bits ? (uint32_t)all : corrupt->bits;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t top = all - n + i;
		uint64_t draw = draw_at(place, LANE_WHICH + i);
		uint64_t bit = draw_index(draw, top + 1);

		flipped[i] = has(flipped, i, bit) ? top : bit;
		flip_bit(mbuf, flipped[i]);
	}
}

static void corrupt_random_process(struct stage *stage, struct burst *burst)
{
	struct corrupt_random *corrupt = (struct corrupt_random *)stage;
	uint64_t which = draws_chances(stage, burst, LANE_WHETHER, &corrupt->wrong, FLOW_CORRUPT,
	                               FLOW_MARK_CORRUPT_RANDOM);

	for (; which; which &= which - 1) {
		uint16_t i = (uint16_t)__builtin_ctzll(which);

		if (!cloud_writable(stage->cloud, burst, i))
			continue;
		burst_headers_forget(burst, i);
		flip_bits(corrupt, burst->mbuf[i], draws_place(stage, burst, i));
		if (unlikely(stage->keyed))
			burst_flag(burst, i, PACKET_DAMAGED);
		cloud_counters(stage->cloud)->corrupted++;
	}
	stage->drawn += burst->n;
}

static int corrupt_random_make(const struct conf *conf, struct stage **stage)
{
	const struct corrupt_random_conf *random = (const struct corrupt_random_conf *)conf;
	struct corrupt_random *corrupt = calloc(1, sizeof(*corrupt));

	if (!corrupt)
		return -ENOMEM;
	corrupt->stage.process = corrupt_random_process;
	corrupt->wrong = chance_make(random->probability, random->correlation, random->as_netem);
	corrupt->bits = (uint32_t)random->bits;
	*stage = &corrupt->stage;
	return 0;
}

static void corrupt_random_adopt(struct stage *stage, const struct stage *old)
{
	chance_adopt(&((struct corrupt_random *)stage)->wrong,
	             &((const struct corrupt_random *)old)->wrong);
}

static void corrupt_random_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	chance_snapshot(&((struct corrupt_random *)stage)->wrong, snapshot);
}

static const struct field corrupt_random_fields[] = {
        {FIELD("probability", FIELD_PROBABILITY, struct corrupt_random_conf, probability,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = PROBABILITY_ONE,
               .help = "share of the packets that is corrupted")},
        {FIELD("bits", FIELD_COUNT, struct corrupt_random_conf, bits, .min = 1,
               .max = CORRUPT_BITS_MAX, .initial = 1, .help = "how many bits of it are inverted")},
        {FIELD("correlation", FIELD_PROBABILITY, struct corrupt_random_conf, correlation,
               .max = PROBABILITY_ONE,
               .help = "of a packet's corruption with that of the one before it")},
        {FIELD("as-netem", FIELD_FLAG, struct corrupt_random_conf, as_netem,
               .help = CHANCE_AS_NETEM_HELP)},
        KEYED_FIELD(struct corrupt_random_conf),
        FIELD_END,
};

const struct statement corrupt_random_statement = {
        .name = "corrupt",
        .variant = "random",
        .by_percent = true,
        .help = "some bits of a packet are inverted, with a probability",
        .example = "random 0.1%",
        .role = ROLE_STAGE,
        .beyond = "it inverts any bit of a packet",
        .fields = corrupt_random_fields,
        .conf_bytes = sizeof(struct corrupt_random_conf),
        .check = keyed_check,
        .acts = {COUNTER(corrupted)},
        .make = corrupt_random_make,
        .adopt = corrupt_random_adopt,
        .snapshot = corrupt_random_snapshot,
};
