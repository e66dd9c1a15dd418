/* SPDX-License-Identifier: BSD-3-Clause */
#include "corrupt/corrupt_bit_error.h"

#include <errno.h>
#include <stdlib.h>

#include "corrupt/flip.h"
#include "random/bit_error.h"
#include "stage/draws.h"

struct corrupt_bit_error {
	struct stage stage;
	struct bit_error error;
};

/* Inverts the wrong bits of packet i. Error number k is drawn on lanes 2k and 2k + 1. */
static void corrupt(struct corrupt_bit_error *stage, struct burst *burst, uint16_t i)
{
	/* Bits that a capture has cut off, or only claims, cannot be inverted. */
	uint64_t bits = (uint64_t)burst->mbuf[i]->pkt_len * 8;
	struct draw_place place = draws_place(&stage->stage, burst, i);
	struct flips flips = {0};
	uint64_t at;
	uint32_t lane = 0;

	if (!bit_error_strikes(place.key, place.index, 0,
	                       bit_error_in_packet(&stage->error, burst_wire_bytes(burst, i))))
		return;
	at = bit_error_gap(&stage->error, place.key, place.index, 0);
	if (!cloud_writable(stage->stage.cloud, burst, i))
		return;
	cloud_counters(stage->stage.cloud)->corrupted++;
	burst_headers_forget(burst, i);
	if (unlikely(stage->stage.keyed))
		burst_flag(burst, i, PACKET_DAMAGED);
	flips.segment = burst->mbuf[i];
	for (; at < bits; at += 1 + bit_error_gap(&stage->error, place.key, place.index, lane)) {
		flips_next(&flips, at);
		lane += 2;
	}
}

static void corrupt_bit_error_process(struct stage *stage, struct burst *burst)
{
	for (uint16_t i = 0; i < burst->n; i++)
		corrupt((struct corrupt_bit_error *)stage, burst, i);
	stage->drawn += burst->n;
}

static int corrupt_bit_error_make(const struct conf *conf, struct stage **stage)
{
	/* calloc aligns to 16 bytes, which 128-bit words need. */
	struct corrupt_bit_error *error = calloc(1, sizeof(*error));

	if (!error)
		return -ENOMEM;
	error->stage.process = corrupt_bit_error_process;
	bit_error_prepare(&error->error, &((const struct corrupt_bit_error_conf *)conf)->ber);
	*stage = &error->stage;
	return 0;
}

static const struct field corrupt_bit_error_fields[] = {
        {FIELD("probability", FIELD_RATIO, struct corrupt_bit_error_conf, ber,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .help = "that a bit is inverted")},
        KEYED_FIELD(struct corrupt_bit_error_conf),
        FIELD_END,
};

const struct statement corrupt_bit_error_statement = {
        .name = "corrupt",
        .variant = "bit-error",
        .help = "each bit of a packet is inverted with a probability",
        .example = "bit-error 1e-9",
        .role = ROLE_STAGE,
        .beyond = "it inverts any bit of a packet",
        .fields = corrupt_bit_error_fields,
        .conf_bytes = sizeof(struct corrupt_bit_error_conf),
        .check = keyed_check,
        .acts = {COUNTER(corrupted)},
        .make = corrupt_bit_error_make,
};
