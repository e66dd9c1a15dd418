/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of one capture that wait for their partner, found by their key, the oldest first.
 *
 * At most `room` frames wait: one more pushes out the oldest. A table takes 72 bytes for each.
 * Looking for a key passes at most PAIRING_LOOKS frames, whatever the captures have.
 *
 * Thread: one.
 */
#ifndef WEIR_PAIRING_TABLE_H
#define WEIR_PAIRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PAIRING_LOOKS 64u

struct waiting_frame {
	uint64_t key;
	int64_t t_ns;
	uint32_t number, wire_bytes;
	uint16_t flow;
	uint8_t ecn;
	bool damaged, fragment;
	bool waits;
	/* The pair of an earlier frame with the same key: this one is its copy, unless a partner
	 * comes. */
	bool copy;
	uint16_t copy_flow;
	uint32_t copy_number;
	int64_t copy_t_ns;
	uint32_t behind; /* the next one of its chain, as a place + 1 */
};

struct pairing_table {
	struct waiting_frame *ring;
	uint32_t *first, *last; /* of each chain, as a place + 1; 0: empty */
	uint32_t mask;
	uint32_t begin, end; /* positions; place = position & mask */
	uint32_t n;          /* frames that wait */
};

/* `room` is a power of two. Returns 0 or -ENOMEM. */
int pairing_table_make(struct pairing_table *table, uint32_t room);
void pairing_table_free(struct pairing_table *table);
/* Adds a frame to a table that is not full (pairing_table_oldest). */
void pairing_table_add(struct pairing_table *table, const struct waiting_frame *frame);
/* Takes out the oldest frame with this key, and sets *alike to another one of the table, or NULL.
 * Returns false if there is none. */
bool pairing_table_take(struct pairing_table *table, uint64_t key, struct waiting_frame *frame,
                        struct waiting_frame **alike);
/* Takes out the oldest frame, if the table is full or `any`. Returns false if there is nothing to
 * take. */
bool pairing_table_oldest(struct pairing_table *table, bool any, struct waiting_frame *frame);

#endif
