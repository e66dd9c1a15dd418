/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_bit_error.h"

#include <errno.h>
#include <stdlib.h>

#include "random/bit_error.h"
#include "stage/draws.h"

struct loss_bit_error {
	struct stage stage;
	struct bit_error error;
};

static void loss_bit_error_process(struct stage *stage, struct burst *burst)
{
	struct loss_bit_error *loss = (struct loss_bit_error *)stage;

	for (uint16_t i = 0; i < burst->n; i++) {
		probability_q127 p = bit_error_in_packet(&loss->error, burst_wire_bytes(burst, i));

		struct draw_place place = draws_place(stage, burst, i);

		if (bit_error_strikes(place.key, place.index, 0, p))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
	stage->drawn += burst->n;
}

static int loss_bit_error_make(const struct conf *conf, struct stage **stage)
{
	struct loss_bit_error *loss;

	/* calloc aligns to 16 bytes, which 128-bit words need. */
	loss = calloc(1, sizeof(*loss));
	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_bit_error_process;
	bit_error_prepare(&loss->error, &((const struct loss_bit_error_conf *)conf)->ber);
	*stage = &loss->stage;
	return 0;
}

static const struct field loss_bit_error_fields[] = {
        {FIELD("probability", FIELD_RATIO, struct loss_bit_error_conf, ber,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
               .help = "that a bit is wrong; a packet with a wrong bit is lost")},
        KEYED_FIELD(struct loss_bit_error_conf),
        FIELD_END,
};

const struct statement loss_bit_error_statement = {
        .name = "loss",
        .variant = "bit-error",
        .help = "packets with at least one wrong bit are lost",
        .example = "bit-error 1e-9",
        .role = ROLE_STAGE,
        .fields = loss_bit_error_fields,
        .conf_bytes = sizeof(struct loss_bit_error_conf),
        .check = keyed_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_bit_error_make,
};
