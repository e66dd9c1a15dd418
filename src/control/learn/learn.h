/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir learn`. Packets are paired, and headers read, here; the estimation is the
 * package weir.learn of Python (python/src/weir/learn). Its questions (python/python.h):
 *
 *   {"ask": "pairs", "sent": PATH, "received": PATH, "table": PATH}
 *   {"ask": "headers", "capture": PATH, "table": PATH}
 *
 * are answered by the facts that `weir learn --pairs` and `weir learn --headers` print, or by
 * {"error": TEXT, "wrong": BOOL}: wrong if it is the capture that cannot be read. A PATH is one of
 * python_path.
 */
#ifndef WEIR_LEARN_H
#define WEIR_LEARN_H

#include <stdint.h>

#include <jansson.h>

#include "capture/capture.h"
#include "learn/packet_mark.h"
#include "scenario/problem.h"

struct pairs_plan {
	const char *captures[2]; /* sent and received */
	const char *table;       /* the file for the rows */
};

/* Pairs two captures, writes the rows (struct pair_row) into a file, and makes one JSON object
 * about them, or NULL if there is no memory. Returns 0; -EINVAL with problem if a capture cannot be
 * read; -EIO with problem if the table cannot be written; or -ENOMEM. */
int learn_pairs(const struct pairs_plan *plan, json_t **facts, struct problem *problem);

struct heads_plan {
	const char *capture;
	const char *table; /* the file for the rows */
};

/* Reads a capture, writes the rows (struct head_row) into a file, and makes one JSON object about
 * them. Returns what learn_pairs returns. */
int learn_heads(const struct heads_plan *plan, json_t **facts, struct problem *problem);

/* What both share: a flow as an array of its ends, or NULL if there is no memory; and 0, or -EINVAL
 * with problem if a capture that was read to its end was not read. */
json_t *learn_flow_json(const struct packet_ends *ends);
int learn_capture_read(const struct capture *capture, const char *path, struct problem *problem);

#endif
