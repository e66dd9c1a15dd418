/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss list FILE`: the packets that a file names are lost.
 *
 * The file has either
 *   - the number of a packet in each line, in any order; empty lines and lines that begin with #
 *     are skipped; or
 *   - the log of an earlier run (`weir replay --log`): each packet or copy that was lost in the
 *     cloud of the same name with the reason `loss` is lost again. Drops by a queue, a policer or
 *     want of memory happen again by themselves. Packets that weir generated have no number of
 *     their own, and pass. In a template, each cloud loses what the log says of the cloud of its
 *     name, `down/10.0.3.4`. If the file has numbers, each cloud loses those that it meets.
 * Model: a packet's number is its ordinal at the port where it came in, from 1, counted since the
 * beginning of the run, before any cloud. No randomness. Cost: 8 bytes for each packet of the list,
 * beside the file, which stays in memory; the clouds of a template share one list. Limits: copies
 * of one packet cannot be told apart; numbers to 2^63 - 1.
 */
#ifndef WEIR_LOSS_LIST_H
#define WEIR_LOSS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/packet.h"
#include "scenario/file.h"
#include "scenario/statement.h"

/*
 * Sets of packets read from a file (above), and queried packet by packet.
 *
 * A *table* has what the file says of a cloud, or of all clouds of a template, which share it. A
 * *list* is the part of a table that concerns one cloud.
 *
 * Packets are queried in nearly ascending order. A query then takes a comparison, otherwise a
 * binary search.
 *
 * Ownership: tables are shared by counted references (drop_table_release).
 * Thread: tables are made and released by control, in any thread, and only read otherwise; a list
 * belongs to one worker.
 */

struct drop_table;
struct problem;

struct drop_list {
	const uint64_t *key; /* sorted; twice a packet's number, plus 1 for its copy */
	size_t n;
	size_t next; /* the first key not below the latest query */
};

/* Finds or reads the table of the cloud `name` or, if `many`, of the clouds of the template `name`.
 * Returns 0, -ENOMEM, or -EINVAL with `problem` about field 0. */
int drop_table_get(struct file *file, const char *name, bool many, struct drop_table **table,
                   struct problem *problem);
/* NULL is allowed. */
void drop_table_release(struct drop_table *table);

/* Returns the list of a cloud; the name of a template's cloud includes its address. Valid as long
 * as the table. */
struct drop_list drop_table_list(const struct drop_table *table, const char *cloud);

bool drop_list_has(struct drop_list *list, uint64_t number, uint8_t flags);

struct loss_list_conf {
	struct conf conf;
	struct file *file;
};

extern const struct statement loss_list_statement;

#endif
