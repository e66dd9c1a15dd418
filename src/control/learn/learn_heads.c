/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the headers of one capture, for `weir learn` of one end. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "learn/head_row.h"
#include "learn/learn.h"
#include "learn/pairing.h"

_Static_assert(sizeof(struct head_row) == 64, "the table that weir.learn reads has rows of 64");

static int write_rows(struct capture *capture, struct flow_list *flows, FILE *table)
{
	struct capture_frame frame;

	while (capture_next(capture, &frame)) {
		struct packet_ends ends;
		struct head_row row;
		uint64_t digest;

		head_row_make(&row, &ends, &digest, &frame);
		row.flow = ends.ip ? flow_list_number(flows, &ends, digest) : FLOW_LIST_MAX;
		if (fwrite(&row, sizeof(row), 1, table) != 1)
			return -errno;
	}
	return 0;
}

static json_t *facts_make(const char *path, const struct capture *capture,
                          const struct flow_list *flows)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < flows->n; i++)
		json_array_append_new(list, learn_flow_json(&flows->ends[i]));
	return json_pack("{s:s%,s:I,s:s,s:o}", "path", path, strlen(path), "frames",
	                 (json_int_t)capture_counts(capture)->frames, "damage",
	                 capture_damage(capture), "flows", list);
}

static int read_into(const struct heads_plan *plan, struct capture *capture, FILE *table,
                     json_t **facts, struct problem *problem)
{
	struct flow_list flows;
	int rc = flow_list_make(&flows);

	if (rc == 0) {
		rc = write_rows(capture, &flows, table);
		if (rc < 0) {
			problem_set(problem, -1, "%s: %s", plan->table, strerror(-rc));
			rc = -EIO;
		}
	}
	if (rc == 0)
		rc = learn_capture_read(capture, plan->capture, problem);
	if (rc == 0)
		*facts = facts_make(plan->capture, capture, &flows);
	flow_list_free(&flows);
	return rc;
}

int learn_heads(const struct heads_plan *plan, json_t **facts, struct problem *problem)
{
	struct link_layer *link = NULL;
	struct capture *capture = NULL;
	int rc = capture_open(plan->capture, NULL, &link, &capture, problem);
	FILE *table;

	if (rc < 0)
		goto err_free;
	table = fopen(plan->table, "we");
	if (!table) {
		problem_set(problem, -1, "%s: %s", plan->table, strerror(errno));
		rc = -EIO;
		goto err_free;
	}
	rc = read_into(plan, capture, table, facts, problem);
	if (fclose(table) != 0 && rc == 0) {
		problem_set(problem, -1, "%s: %s", plan->table, strerror(errno));
		rc = -EIO;
	}
err_free:
	capture_close(capture);
	link_layer_free(link);
	return rc;
}
