/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of packets, read from a file (loss_list.h has its formats), and asked for packet by packet.
 *
 * Packets are asked for in nearly ascending order: then an answer takes the time of a comparison,
 * else that of a binary search.
 *
 * Ownership: drop_list_free. Thread: made by control, asked by one worker.
 */
#ifndef WEIR_DROP_LIST_H
#define WEIR_DROP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"
#include "packet.h"

struct drop_list {
	size_t n, room;
	size_t next;   /* the first that is not before the packet asked for last */
	uint64_t *key; /* sorted; a packet's number twice, plus 1 for its copy */
};

struct problem;

/* What the file says of this cloud. 0; -ENOMEM; -EINVAL with `problem`, about field 0. */
int drop_list_read(const struct file *file, const char *cloud, struct drop_list *list,
                   struct problem *problem);
void drop_list_free(struct drop_list *list);

bool drop_list_has(struct drop_list *list, const struct packet *packet);

#endif
