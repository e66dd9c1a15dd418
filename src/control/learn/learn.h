/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir learn`. Packets are paired, and headers read, here; the estimation is the
 * package weir.learn of Python (python/src/weir/learn), which calls `weir learn --pairs` and
 * `weir learn --headers` for it.
 */
#ifndef WEIR_LEARN_H
#define WEIR_LEARN_H

#include <stdint.h>

#include <jansson.h>

#include "capture/capture.h"
#include "learn/packet_mark.h"
#include "scenario/problem.h"

/* What the command line says about pairing. */
struct pairs_plan {
	const char *captures[2]; /* sent and received */
	const char *table;       /* the file for the rows */
	uint64_t room;           /* 0: the usual one */
};

/* Pairs two captures, writes the rows (struct pair_row) into a file, and prints one JSON object
 * about them. Returns 0; -EINVAL with problem if a capture cannot be read; -EIO with problem if the
 * table cannot be written; or -ENOMEM. */
int learn_pairs(const struct pairs_plan *plan, struct problem *problem);

/* What the command line says about the headers of one capture. */
struct heads_plan {
	const char *capture;
	const char *table; /* the file for the rows */
};

/* Reads a capture, writes the rows (struct head_row) into a file, and prints one JSON object about
 * them. Returns what learn_pairs returns. */
int learn_heads(const struct heads_plan *plan, struct problem *problem);

/* What both share: a flow as an array of its ends, or NULL if there is no memory; and 0, or -EINVAL
 * with problem if a capture that was read to its end was not read. */
json_t *learn_flow_json(const struct packet_ends *ends);
int learn_capture_read(const struct capture *capture, const char *path, struct problem *problem);

#endif
