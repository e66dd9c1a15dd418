/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/down.h"

#include <errno.h>
#include <stdlib.h>

#include "stage/stage.h"

static void down_process(struct stage *stage, struct burst *burst)
{
	for (uint16_t i = 0; i < burst->n; i++)
		cloud_drop(stage->cloud, burst, i, REASON_DOWN);
}

static int down_make(const struct conf *conf, struct stage **stage)
{
	(void)conf;
	*stage = calloc(1, sizeof(**stage));
	if (!*stage)
		return -ENOMEM;
	(*stage)->process = down_process;
	return 0;
}

static const struct field no_fields[] = {FIELD_END};

const struct statement down_statement = {
        .name = "down",
        .help = "nothing comes in: arriving packets are dropped, those on their way go on",
        .example = "",
        .role = ROLE_STAGE,
        .fields = no_fields,
        .conf_bytes = sizeof(struct down_conf),
        .acts = {DROPS(DOWN)},
        .make = down_make,
};

const struct statement up_statement = {
        .name = "up",
        .help = "the cloud is no longer down",
        .example = "",
        .role = ROLE_STAGE,
        .fields = no_fields,
        .conf_bytes = sizeof(struct down_conf),
        .clears = "down",
};
