/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes for a time. `begin lease TIME` ... `commit` makes a change that is undone automatically
 * when TIME of the run has passed since it was posted, or since the latest `renew` was read. Only
 * the conversation that made the change can renew it. If that conversation ends, in whatever way,
 * the change is undone when its time is up.
 *
 *   renew      begins the time again
 *   keep       makes the change permanent
 *   revert     undoes the change now; answered when that is done
 *
 * The difference that the change made is undone, as one transaction; what somebody else has changed
 * since stays (difference.h). If this cannot be put in force (a worker stands still, or later
 * changes by others depend on it), an event reports that, and it is tried again, first after a
 * second, then less often, until it succeeds. A conversation has one lease at a time.
 *
 * The memory of a lease is allocated before its change is put in force, so a change for a time
 * never becomes a permanent one. A `renew` counts until undoing has begun: weir may have stood
 * still while it waited.
 *
 * One thread, that of leases_run, undoes what is due; `revert` undoes a lease in the thread of its
 * conversation.
 *
 * Ownership: control owns each lease that has begun.
 * Thread: any. control->lock guards the leases; these functions take it, unless they say otherwise.
 * While a lease is being undone, the holder of the turn reads and hands down its difference, and
 * writes `kept`.
 */
#ifndef WEIR_LEASE_H
#define WEIR_LEASE_H

#include "service/control.h"
#include "service/difference.h"
#include "service/peer.h"

#define LEASE_LEAST_NS   (100 * SIMTIME_MS)
#define LEASE_MOST_NS    (86400 * SIMTIME_S)
#define LEASE_CLOUDS_MAX 1024 /* the most clouds that a lease may change */
#define LEASE_WHY_BYTES  300

struct lease {
	uint64_t number; /* from 1; 0 is no lease's */
	struct peer who;
	uint64_t for_ns, until_ns; /* of the run */
	struct difference difference;
	bool kept[LEASE_CLOUDS_MAX]; /* clouds of the difference with an item that stayed */
	enum { LEASE_NOT_RENEWED, LEASE_CONNECTION_ENDED, LEASE_ASKED } end;
	bool due;                    /* undoing has begun, though it may have failed */
	bool undoing;                /* a thread is at it */
	char stuck[LEASE_WHY_BYTES]; /* why it could not be undone; "": not tried yet, or undone */
	uint64_t again_ns, pause_ns;
};

/* Undoes what is due, and settles changes that workers have taken late, until control ends.
 * `control`: a struct control; for control_thread. */
void leases_run(void *control);
/* Undoes what is due now. */
void leases_undo_due(struct control *control);
/* Frees the leases without undoing them. */
void leases_free(struct control *control);
/* Returns a copy of the scenario in force without the changes of the leases, or NULL if there is no
 * memory. The caller looks (control.h). */
struct scenario *leases_undone(struct control *control);

/* Returns a sentence that says why there can be no further lease, or NULL if there can. */
const char *leases_refuse(struct control *control);
/* Begins the lease of a change that has been posted, gives it its number, and takes ownership of
 * both; its time begins when the caller sets until_ns. leases_refuse has returned NULL since the
 * turn began, so there is room. With the lock. */
void lease_begin(struct control *control, struct lease *lease, struct difference *difference);
/* NULL is allowed. */
void lease_free(struct lease *lease);

/* These return 0; -ENOENT if there is no such lease, or it has ended; -EALREADY if it is being
 * undone. */
/* Begins the time again; `for_ns`: how long, 0: as long as before; gets how long that is. */
int lease_renew(struct control *control, uint64_t number, uint64_t *for_ns);
int lease_keep(struct control *control, uint64_t number);
/* Undoes the change now. Returns also -ECANCELED, if the waiting was ended; or another -errno, and
 * `why` says why it cannot be undone yet. */
int lease_revert(struct control *control, uint64_t number, const struct asker *asker,
                 char why[LEASE_WHY_BYTES]);
/* Returns false if there is no such lease, or it has ended. */
bool lease_is(struct control *control, uint64_t number);
/* Has the change undone when its time is up. */
void lease_let_go(struct control *control, uint64_t number);

#endif
