/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets of a recording that found no memory: a repetition lets the same ones find none
 * (account/scarcity.h).
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_LACKS_H
#define WEIR_RERUN_LACKS_H

#include <stddef.h>

#include "account/scarcity.h"
#include "record/tape_entry.h"

/* Of one worker, one cloud and one want: n, from this number on. */
struct lack {
	uint32_t worker, cloud, want, n;
	uint64_t number;
};

struct rerun_lacks {
	struct lack *list; /* in order, once rerun_lacks_sort was called */
	size_t n, room;
};

/* Of an entry TAPE_UNHELD. 0 or -ENOMEM. */
int rerun_lacks_add(struct rerun_lacks *lacks, uint32_t worker, const struct tape_entry *entry);
void rerun_lacks_sort(struct rerun_lacks *lacks);
void rerun_lacks_free(struct rerun_lacks *lacks);

/* Those of a worker, for its engine. */
struct rerun_scarcity {
	struct scarcity scarcity; /* first */
	const struct lack *list;
	size_t n;
	/* A packet has found no memory that did in the recorded run: the repetition has too
	 * little. */
	bool starved;
};

void rerun_scarcity_make(struct rerun_scarcity *rerun_scarcity, const struct rerun_lacks *lacks,
                         uint32_t worker);

#endif
