/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *tally*: what one statement has done in one cloud, while it was in force. The counters of a
 * cloud (counters.h) are sums over all its statements; a cloud may have several of a kind, as
 * `rewrite 1` and `rewrite 2`, or `corrupt` and `at 5s corrupt`.
 *
 * Ownership: shared by all that hold it, which are the configuration in an engine
 * (scenario/tallied.h), the list of its cloud, and what counts in it. Control holds and releases.
 * Thread: one writer, the worker that owns the cloud; others read each word whole, and a moment
 * old.
 */
#ifndef WEIR_TALLY_H
#define WEIR_TALLY_H

#include <stdint.h>
#include <stdlib.h>

#define TALLIES_MAX 128 /* of a cloud; statements beyond it have none */

struct tally {
	uint64_t came;  /* packets that met the statement */
	uint64_t acted; /* of these: those that it dropped, changed or copied */
	uint32_t holders;
};

/* Returns a tally with one holder, or NULL if there is no memory. */
static inline struct tally *tally_make(void)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (tally)
		tally->holders = 1;
	return tally;
}

/* `tally` may be NULL, which is returned. */
static inline struct tally *tally_hold(struct tally *tally)
{
	if (tally)
		__atomic_fetch_add(&tally->holders, 1, __ATOMIC_RELAXED);
	return tally;
}

static inline void tally_release(struct tally *tally)
{
	if (tally && __atomic_sub_fetch(&tally->holders, 1, __ATOMIC_ACQ_REL) == 0)
		free(tally);
}

#endif
