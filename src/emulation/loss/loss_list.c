/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_list.h"

#include <errno.h>
#include <stdlib.h>

#include "loss/drop_list.h"
#include "scenario/scenario.h"
#include "stage/stage.h"

struct loss_list {
	struct stage stage;
	struct drop_table *table;
	/* `list` is set; a cloud of a template has no name before its first packet */
	bool found;
	struct drop_list list;
};

static void loss_list_process(struct stage *stage, struct burst *burst)
{
	struct loss_list *loss = (struct loss_list *)stage;

	if (unlikely(!loss->found)) {
		loss->list = drop_table_list(loss->table, cloud_name(stage->cloud));
		loss->found = true;
	}
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (drop_list_has(&loss->list, burst_number(burst, i), burst_flags(burst, i)))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
}

static int loss_list_check(const struct conf *conf, const struct cloud_conf *cloud,
                           struct problem *problem)
{
	struct drop_table *table;
	int error;

	problem_set(problem, -1, "no memory for the list");
	error = drop_table_get(((const struct loss_list_conf *)conf)->file, cloud->name,
	                       cloud->many, &table, problem);
	drop_table_release(table);
	return error;
}

static int loss_list_make(const struct conf *conf, struct stage **stage)
{
	struct loss_list *loss = calloc(1, sizeof(*loss));

	(void)conf;
	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_list_process;
	*stage = &loss->stage;
	return 0;
}

static int loss_list_ready(struct stage *stage, const struct conf *conf)
{
	const char *of = cloud_template_name(stage->cloud);
	struct problem problem;

	return drop_table_get(((const struct loss_list_conf *)conf)->file,
	                      of ? of : cloud_name(stage->cloud), of != NULL,
	                      &((struct loss_list *)stage)->table, &problem);
}

static void loss_list_free(struct stage *stage)
{
	drop_table_release(((struct loss_list *)stage)->table);
	free(stage);
}

static const struct field loss_list_fields[] = {
        {.name = "file",
         .type = FIELD_FILE,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct loss_list_conf, file),
         .help = "the numbers of packets, one per line, or the log of an earlier run"},
        FIELD_END,
};

const struct statement loss_list_statement = {
        .name = "loss",
        .variant = "list",
        .help = "the packets that a file lists are lost, or those that were lost in an earlier run",
        .example = "list FILE",
        .role = ROLE_STAGE,
        .fields = loss_list_fields,
        .conf_bytes = sizeof(struct loss_list_conf),
        .check = loss_list_check,
        .acts = {offsetof(struct counters, drops[REASON_LOSS]),
                 offsetof(struct counters, ecn_marked)},
        .make = loss_list_make,
        .ready = loss_list_ready,
        .free = loss_list_free,
};
