/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/learn.h"
#include "learn/pairing.h"

#define TABLE_ROWS 4096u

_Static_assert(sizeof(struct pair_row) == 40, "the table that weir.learn reads has rows of 40");

/* Rows on their way into the file. */
struct table_writer {
	int fd;
	uint32_t n;
	struct pair_row rows[TABLE_ROWS];
};

static int table_flush(struct table_writer *writer)
{
	const uint8_t *at = (const uint8_t *)writer->rows;
	size_t left = writer->n * sizeof(writer->rows[0]);

	writer->n = 0;
	while (left > 0) {
		const ssize_t done = write(writer->fd, at, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		left -= (size_t)done;
	}
	return 0;
}

static int table_take(void *argument, const struct pair_row *row)
{
	struct table_writer *writer = argument;

	writer->rows[writer->n++] = *row;
	return writer->n == TABLE_ROWS ? table_flush(writer) : 0;
}

/* ---- facts ---- */

static json_t *json_capture(const struct capture *capture, const char *path,
                            const struct pairing_counts *counts, uint32_t i)
{
	char order[400];

	if (!capture_say_order(capture, order, sizeof(order)))
		order[0] = 0;
	return json_pack("{s:s%,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:s}", "path", path,
	                 strlen(path), "frames", (json_int_t)counts->frames[i], "only",
	                 (json_int_t)counts->only[i], "copies", (json_int_t)counts->copies[i],
	                 "damaged", (json_int_t)counts->damaged[i], "fragments",
	                 (json_int_t)counts->fragments[i], "longest",
	                 (json_int_t)counts->longest[i], "super_frames", (json_int_t)counts->cut[i],
	                 "truncated", (json_int_t)capture_counts(capture)->truncated, "damage",
	                 capture_damage(capture), "order", order);
}

json_t *learn_flow_json(const struct packet_ends *ends)
{
	char source[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN];
	const int family = ends->ip == 6 ? AF_INET6 : AF_INET;

	inet_ntop(family, ends->address[0], source, sizeof(source));
	inet_ntop(family, ends->address[1], target, sizeof(target));
	return json_pack("[s,s,i,i,i]", source, target, (int)ends->protocol, (int)ends->port[0],
	                 (int)ends->port[1]);
}

static json_t *json_changed(uint32_t parts)
{
	json_t *changed = json_array();

	if (!(parts & MARK_ADDRESSES))
		json_array_append_new(changed, json_string("addresses"));
	if (!(parts & MARK_ID))
		json_array_append_new(changed, json_string("id"));
	if (!(parts & MARK_PAYLOAD))
		json_array_append_new(changed, json_string("payload"));
	return changed;
}

static json_t *facts_make(const struct pairs_plan *plan, const struct pairing *pairing,
                          struct capture *const captures[2])
{
	const struct pairing_counts *counts = pairing_counts(pairing);
	const struct flow_list *list = pairing_flows(pairing);
	json_t *flows = json_array();

	for (uint32_t i = 0; i < list->n; i++)
		json_array_append_new(flows, learn_flow_json(&list->ends[i]));
	return json_pack("{s:[o,o],s:I,s:I,s:o,s:o}", "captures",
	                 json_capture(captures[0], plan->captures[0], counts, 0),
	                 json_capture(captures[1], plan->captures[1], counts, 1), "pairs",
	                 (json_int_t)counts->pairs, "alike", (json_int_t)counts->alike, "changed",
	                 json_changed(counts->parts), "flows", flows);
}

/* ---- the whole ---- */

int learn_capture_read(const struct capture *capture, const char *path, struct problem *problem)
{
	if (capture_refused(capture)[0])
		return problem_set(problem, -1, "%s: %s", path, capture_refused(capture));
	if (capture_error(capture))
		return problem_set(problem, -1, "%s: %s", path, strerror(capture_error(capture)));
	return 0;
}

static int pair_into(const struct pairs_plan *plan, struct capture *const captures[2],
                     struct table_writer *writer, json_t **facts, struct problem *problem)
{
	struct pairing *pairing = pairing_make(PAIRING_ROOM, captures, table_take, writer);
	int rc = pairing ? pairing_run(pairing) : -ENOMEM;

	if (rc == 0)
		rc = table_flush(writer);
	if (rc < 0 && rc != -ENOMEM) {
		problem_set(problem, -1, "%s: %s", plan->table, strerror(-rc));
		rc = -EIO;
	}
	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = learn_capture_read(captures[i], plan->captures[i], problem);
	if (rc == 0)
		*facts = facts_make(plan, pairing, captures);
	pairing_free(pairing);
	return rc;
}

int learn_pairs(const struct pairs_plan *plan, json_t **facts, struct problem *problem)
{
	struct io_thread *io_thread = io_thread_make();
	struct link_layer *links[2] = {NULL, NULL};
	struct capture *captures[2] = {NULL, NULL};
	struct table_writer *writer = calloc(1, sizeof(*writer));
	int rc = writer ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = capture_open(plan->captures[i], io_thread, &links[i], &captures[i], problem);
	if (rc < 0)
		goto err_close;
	writer->fd = open(plan->table, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (writer->fd < 0) {
		problem_set(problem, -1, "%s: %s", plan->table, strerror(errno));
		rc = -EIO;
		goto err_close;
	}
	rc = pair_into(plan, captures, writer, facts, problem);
	if (close(writer->fd) < 0 && rc == 0) {
		problem_set(problem, -1, "%s: %s", plan->table, strerror(errno));
		rc = -EIO;
	}
err_close:
	for (uint32_t i = 0; i < 2; i++) {
		capture_close(captures[i]);
		link_layer_free(links[i]);
	}
	io_thread_free(io_thread);
	free(writer);
	return rc;
}
