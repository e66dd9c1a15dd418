/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets of a recording that found no memory. A repetition lets the same packets find none
 * (account/scarcity.h).
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_LACKS_H
#define WEIR_RERUN_LACKS_H

#include <stddef.h>

#include "account/scarcity.h"
#include "record/tape_entry.h"

/* n packets of one worker, one cloud and one want, from `number` on. */
struct lack {
	uint32_t worker, cloud, want, n;
	uint64_t number;
};

struct rerun_lacks {
	struct lack *list; /* sorted by rerun_lacks_sort */
	size_t n, room;
};

/* Adds an entry TAPE_UNHELD. Returns 0 or -ENOMEM. */
int rerun_lacks_add(struct rerun_lacks *lacks, uint32_t worker, const struct tape_entry *entry);
void rerun_lacks_sort(struct rerun_lacks *lacks);
void rerun_lacks_free(struct rerun_lacks *lacks);

/* The lacks of one worker, for its engine. */
struct rerun_scarcity {
	struct scarcity scarcity; /* first */
	const struct lack *list;
	size_t n;
	/* A packet found no memory that had found some in the recorded run: the repetition has too
	 * little. */
	bool starved;
};

void rerun_scarcity_make(struct rerun_scarcity *rerun_scarcity, const struct rerun_lacks *lacks,
                         uint32_t worker);

#endif
