/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change has made different, and how that is undone when others have changed more since.
 *
 * Model. A difference is a list of items, each with a value before and a value after the change:
 *
 *   a statement of a cloud         of numbered ones each number; all `at` of a cloud together
 *                                  are one, and so are all `every`
 *   a class of a cloud             with all its statements
 *   what a cloud is                from where, to where, which packets
 *   that there is a cloud          with all that it has
 *
 * To undo it puts each item whose present value is the one after the change back to the one before.
 * An item that has another value now was changed by somebody else since: it stays. So does a cloud
 * that the change has made, if it is not as the change has made it.
 *
 * Of two differences that overlap, the earlier one may have to be undone first. Then its value lies
 * below that of the later one: difference_hand_down puts the value before the earlier in the place
 * of the value before the later, so that whoever comes last brings back what was there at first,
 * in whatever order they are undone.
 *
 * Ownership: difference_release. Thread: any, one at a time.
 */
#ifndef WEIR_DIFFERENCE_H
#define WEIR_DIFFERENCE_H

#include "scenario/scenario.h"

struct difference_cloud {
	char name[SCENARIO_NAME_BYTES];
	char behind
	        [SCENARIO_NAME_BYTES]; /* the cloud before it in the order; "": it was the first */
	struct cloud_conf *before, *after; /* NULL: there was none */
	bool kept; /* at the last difference_undo: something stays, for somebody has changed it */
};

/* All 0: none. */
struct difference {
	struct difference_cloud *clouds;
	uint32_t n;
};

/* 0 or -ENOMEM. Ports and seed are not looked at. */
int difference_make(struct difference *difference, const struct scenario *before,
                    const struct scenario *after);
void difference_release(struct difference *difference);
/* Undoes it in this scenario. 0, -ENOMEM, or -ENOSPC: a cloud has no room for what it had; then
 * the scenario may have got a part, and is to be thrown away. */
int difference_undo(struct difference *difference, struct scenario *scenario);
/* `later` was made after `earlier`, which is to be undone: it takes over what lies below it. To do
 * it again changes nothing. 0, -ENOMEM or -ENOSPC: of some clouds it has taken over all, of the
 * others nothing. */
int difference_hand_down(struct difference *earlier, struct difference *later);

#endif
