/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of packets, read from a file (loss_list.h has its formats), and asked for packet by packet.
 *
 * A *table* is what the file says of a cloud, or of each cloud of a template; it is read once for
 * all of them. A *list* is the part of it that one cloud asks.
 *
 * Packets are asked for in nearly ascending order: then an answer takes the time of a comparison,
 * else that of a binary search.
 *
 * Ownership: tables are shared by counted references: drop_table_release. Thread: tables are made
 * and released by control, in any thread, and only read otherwise; a list is one worker's.
 */
#ifndef WEIR_DROP_LIST_H
#define WEIR_DROP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/packet.h"
#include "scenario/file.h"

struct drop_table;
struct problem;

struct drop_list {
	const uint64_t *key; /* sorted; a packet's number twice, plus 1 for its copy */
	size_t n;
	size_t next; /* the first that is not before the packet asked for last */
};

/* What the file says of the cloud of this name, or, if `many`, of those of the template. 0;
 * -ENOMEM; -EINVAL with `problem`, about field 0. */
int drop_table_get(struct file *file, const char *name, bool many, struct drop_table **table,
                   struct problem *problem);
/* NULL is nothing. */
void drop_table_release(struct drop_table *table);

/* The part of the cloud of this name: of a template's, with its address. Valid as long as the
 * table. */
struct drop_list drop_table_list(const struct drop_table *table, const char *cloud);

bool drop_list_has(struct drop_list *list, uint64_t number, uint8_t flags);

#endif
