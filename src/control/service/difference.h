/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The difference that a change has made, and its undoing after others have made further changes.
 *
 * Model. A difference is a list of items, each with a value before and a value after the change:
 *
 *   a statement of a cloud         of a numbered one each number; all `at` of a cloud together are
 *                                  one item, and so are all `every`
 *   a class of a cloud             with all its statements
 *   the definition of a cloud      from where, to where, which packets
 *   the existence of a cloud       with all that it has
 *
 * Undoing sets each item whose present value is the value after the change to the value before. An
 * item with another present value was changed by somebody else since: it stays. So does a cloud
 * that the change has made, if it is not as the change has made it.
 *
 * If two differences overlap, the earlier one may have to be undone first. Its value then lies
 * below the later one's: difference_hand_down copies the value before the earlier change to the
 * later difference, as its value before. So the last undoing restores the original value, in
 * whatever order they are undone.
 *
 * Ownership: difference_release.
 * Thread: any, one at a time, unless a function says otherwise.
 */
#ifndef WEIR_DIFFERENCE_H
#define WEIR_DIFFERENCE_H

#include "scenario/scenario.h"

struct difference_cloud {
	char name[SCENARIO_NAME_BYTES];
	char behind[SCENARIO_NAME_BYTES];  /* the cloud before it in the order; "": it was first */
	struct cloud_conf *before, *after; /* NULL: there was no cloud */
};

/* All 0: no difference. */
struct difference {
	struct difference_cloud *clouds;
	uint32_t n;
	size_t room;
};

/* Compares two scenarios, except ports and seed. Returns 0 or -ENOMEM. */
int difference_make(struct difference *difference, const struct scenario *before,
                    const struct scenario *after);
void difference_release(struct difference *difference);
/* Undoes the difference in this scenario. Sets kept[i], of difference->n, to whether an item of its
 * cloud i stayed, because somebody had changed it; `kept` may be NULL. Returns 0, -ENOMEM, or
 * -ENOSPC if a cloud has no room for what it had; then the scenario may be changed in part, and
 * must be discarded. Thread: any, several at a time. */
int difference_undo(const struct difference *difference, struct scenario *scenario, bool *kept);
/* Hands the values before `earlier`, which is to be undone, down to `later`, which was made after
 * it. A repetition changes nothing. Returns 0, -ENOMEM or -ENOSPC; on failure each cloud is handed
 * down completely or not at all. */
int difference_hand_down(struct difference *earlier, struct difference *later);

/* Returns, in the words of the language, what the change has replaced, as lines
 * that end with LF; to be freed. A statement that is different or gone stands there as it was; for
 * one that was not there, `no STATEMENT`:
 *
 *   cloud down delay 80ms          delay 40ms
 *   cloud down rate 1mbit          no rate
 *   no cloud down delay            delay 80ms
 *   no cloud down                  cloud down from a to b
 *                                  cloud down loss random 1%
 *   cloud new from a to b          no cloud new
 *
 * An `at` or `every` beside others replaces none of them, so it has no line. NULL: no memory. */
char *difference_before(const struct difference *difference);

#endif
